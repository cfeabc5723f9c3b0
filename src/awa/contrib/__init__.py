"""Helpers for frameworks: Django's tasks, and the lifespan of Starlette and FastAPI."""
