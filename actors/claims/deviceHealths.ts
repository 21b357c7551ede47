/** Caches the health of devices as their drivers report it (`pkg/kubelet/cm/dra/healthinfo.go`). */
import type { Clock } from '../../base/time/clock.ts';
import type { ClaimDevice } from '../../kubernetes/claims/claimState.ts';
import type { DeviceHealthReport } from './resourceDrivers.ts';

/** Time after which a report is outdated, unless the driver specifies one. */
const DEFAULT_TIMEOUT_MS = 30_000;
/**
 * Maximum length in bytes of a health message in a container's status. Longer messages are truncated and end with an
 * ellipsis.
 */
const MAX_MESSAGE_BYTES = 1_024;

type DeviceHealth = NonNullable<ClaimDevice['health']>;

interface CachedHealth extends DeviceHealth {
  readonly expiresAt: number;
}

export class DeviceHealths {
  readonly #clock: Clock;
  /** Keyed by driver, and then by pool and device. */
  readonly #healths = new Map<string, Map<string, CachedHealth>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Records a complete list of a driver's devices. A device that is missing from the list retains its last reported
   * health until that report expires.
   */
  update(driver: string, reports: readonly DeviceHealthReport[]): void {
    const now = this.#clock.now();
    const healths = new Map([...(this.#healths.get(driver) ?? [])].filter(([, { expiresAt }]) => expiresAt >= now));
    for (const { timeoutSeconds, status, message, ...device } of reports) {
      const timeoutMs = timeoutSeconds > 0 ? timeoutSeconds * 1_000 : DEFAULT_TIMEOUT_MS;
      healths.set(deviceKey(device), { status, message: shortened(message), expiresAt: now + timeoutMs });
    }
    this.#healths.set(driver, healths);
  }

  clear(driver: string): void {
    this.#healths.delete(driver);
  }

  /** Returns the health of a device. Undefined if the driver has not reported it recently. */
  find(driver: string, device: Pick<ClaimDevice, 'poolName' | 'deviceName'>): DeviceHealth | undefined {
    const health = this.#healths.get(driver)?.get(deviceKey(device));
    if (health === undefined || health.expiresAt < this.#clock.now()) return undefined;
    const { status, message } = health;
    return { status, message };
  }

  /** Returns the time at which the next health report expires, or Infinity if there are no reports. */
  nextExpiry(): number {
    const now = this.#clock.now();
    const expiries = [...this.#healths.values()].flatMap((healths) =>
      [...healths.values()].map((each) => each.expiresAt),
    );
    return Math.min(...expiries.filter((at) => at >= now)) + 1;
  }
}

const deviceKey = ({ poolName, deviceName }: Pick<ClaimDevice, 'poolName' | 'deviceName'>): string =>
  `${poolName}/${deviceName}`;

function shortened(message: string): string {
  const bytes = Buffer.from(message);
  return bytes.length <= MAX_MESSAGE_BYTES ? message : `${bytes.subarray(0, MAX_MESSAGE_BYTES - 3).toString()}...`;
}
