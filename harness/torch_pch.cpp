// Holds the precompiled header that every target with LibTorch shares.
