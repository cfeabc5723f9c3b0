"""Fixtures that every test shares."""
