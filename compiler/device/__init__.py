"""Devices: where data lives and programs run."""
