"""Every posterior against the exact one."""
