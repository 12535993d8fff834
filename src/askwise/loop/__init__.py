"""The loop: a pure decision over durable facts, and the actions it decides on."""
