/**
 * Keeps every `statelet run` of this process and of its children from changing the kernel parameters and the iptables of the
 * host. Jest's configuration imports it, and each helper that starts the command outside of jest.
 */
process.env.STATELET_HOST_SETTINGS = 'unchanged';
