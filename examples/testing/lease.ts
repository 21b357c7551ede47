/** A Lease that at most one holder has at a time, as in leader election. */
import { ApiException, CoordinationV1Api, type KubeConfig, V1MicroTime } from '@kubernetes/client-node';

export interface LeaseOptions {
  readonly namespace: string;
  readonly name: string;
  /** Identifies this process among those that want the lease. */
  readonly holder: string;
  /** Others may take the lease this long after it was last renewed. */
  readonly durationSeconds: number;
}

/** Acquires the lease, or renews it. Returns whether this process holds it. */
export async function holdLease(config: KubeConfig, options: LeaseOptions): Promise<boolean> {
  const api = config.makeApiClient(CoordinationV1Api);
  const { namespace, name, holder: holderIdentity, durationSeconds: leaseDurationSeconds } = options;
  const spec = { holderIdentity, leaseDurationSeconds, renewTime: new V1MicroTime() };
  try {
    const lease = await api.readNamespacedLease({ namespace, name });
    const { holderIdentity: current, renewTime, leaseDurationSeconds: seconds = 0 } = lease.spec ?? {};
    // client-node declares a Date here, but returns the text of the response.
    const expiresAt = new Date(renewTime ?? 0).getTime() + seconds * 1_000;
    if (current && current !== holderIdentity && expiresAt > Date.now()) return false;
    // The resource version of what was read makes the update fail if another process was faster.
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

/** Lets others take the lease at once, if this process holds it. */
export async function releaseLease(config: KubeConfig, options: LeaseOptions): Promise<void> {
  const api = config.makeApiClient(CoordinationV1Api);
  const { namespace, name, holder } = options;
  const lease = await api.readNamespacedLease({ namespace, name });
  if (lease.spec?.holderIdentity !== holder) return;
  await api.replaceNamespacedLease({ namespace, name, body: { ...lease, spec: { leaseDurationSeconds: 1 } } });
}

/** Returns a handler that maps an API error with this code to a value. */
export const ignoring =
  <T>(code: number, value: T) =>
  (error: unknown): T => {
    if (error instanceof ApiException && error.code === code) return value;
    throw error;
  };
