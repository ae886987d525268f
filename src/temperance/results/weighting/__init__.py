"""Estimates from draws and jump proposals together, and the evidence."""
