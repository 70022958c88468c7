"""Words that every room shares: units, failures. Imports nothing of ours, knows no protocol."""

from twinlog.base.errors import DiskFull, HostFault, ProtocolViolation, Refused, TwinlogError

__all__ = ["DiskFull", "HostFault", "ProtocolViolation", "Refused", "TwinlogError"]
