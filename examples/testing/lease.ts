/** A Lease with at most one holder at a time, as in leader election. */
import { ApiException, CoordinationV1Api, type KubeConfig, V1MicroTime } from '@kubernetes/client-node';

export interface LeaseOptions {
  readonly namespace: string;
  readonly name: string;
  /** The identity of this process among the candidates for the lease. */
  readonly holder: string;
  /** Time after the last renewal when other candidates may take over the lease. */
  readonly durationSeconds: number;
}

/** Acquires or renews the lease. Returns whether this process holds it. */
export async function holdLease(config: KubeConfig, options: LeaseOptions): Promise<boolean> {
  const api = config.makeApiClient(CoordinationV1Api);
  const { namespace, name, holder: holderIdentity, durationSeconds: leaseDurationSeconds } = options;
  const spec = { holderIdentity, leaseDurationSeconds, renewTime: new V1MicroTime() };
  try {
    const lease = await api.readNamespacedLease({ namespace, name });
    const { holderIdentity: current, renewTime, leaseDurationSeconds: seconds = 0 } = lease.spec ?? {};
    // client-node declares a Date here, but returns the string from the response.
    const expiresAt = new Date(renewTime ?? 0).getTime() + seconds * 1_000;
    if (current && current !== holderIdentity && expiresAt > Date.now()) return false;
    // The update includes the resource version that was read, so it fails with a conflict if another process was
    // faster.
    await api.replaceNamespacedLease({ namespace, name, body: { ...lease, spec } });
    return true;
  } catch (error) {
    if (!(error instanceof ApiException)) throw error;
    if (error.code === 409) return false;
    if (error.code !== 404) throw error;
  }
  const created = api.createNamespacedLease({ namespace, body: { metadata: { name }, spec } });
  return created.then(() => true, ignoring(409, false));
}

/** Releases the lease if this process holds it, so that another candidate can acquire it without delay. */
export async function releaseLease(config: KubeConfig, options: LeaseOptions): Promise<void> {
  const api = config.makeApiClient(CoordinationV1Api);
  const { namespace, name, holder } = options;
  const lease = await api.readNamespacedLease({ namespace, name });
  if (lease.spec?.holderIdentity !== holder) return;
  await api.replaceNamespacedLease({ namespace, name, body: { ...lease, spec: { leaseDurationSeconds: 1 } } });
}

/**
 * Returns an error handler that returns `value` for an API error with this status code, and rethrows all other errors.
 */
export const ignoring =
  <T>(code: number, value: T) =>
  (error: unknown): T => {
    if (error instanceof ApiException && error.code === code) return value;
    throw error;
  };
