"""Waybill: where is my parcel?"""

__version__ = "1.6.0"
