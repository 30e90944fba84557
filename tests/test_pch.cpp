// Holds the precompiled header that test programs share.
