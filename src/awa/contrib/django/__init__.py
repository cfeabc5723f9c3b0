"""Awa as a Django app: a backend for Django's tasks, and the command that runs them.

INSTALLED_APPS gets "awa.contrib.django", and TASKS names "awa.contrib.django.backend.AwaBackend".
"""
