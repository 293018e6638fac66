"""Draws by functions of the user, and checks of them before any verdict."""
