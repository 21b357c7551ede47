/**
 * Keeps every `statelet run` of this process and of its children from changing the kernel parameters and the iptables of the
 * host. Jest calls it before all tests, and each helper that starts the command outside of jest imports it.
 */
export default function leaveHostUnchanged(): void {
  process.env.STATELET_HOST_SETTINGS = 'unchanged';
}

leaveHostUnchanged();
