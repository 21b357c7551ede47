/** Caches the health of devices as their drivers report it (`pkg/kubelet/cm/dra/healthinfo.go`). */
import type { Clock } from '../../base/time/clock.ts';
import type { ClaimDevice } from '../../kubernetes/claims/claimState.ts';
import { DEFAULT_HEALTH_TIMEOUT_MS, type DeviceHealthRecord } from '../../kubernetes/claims/healthCheckpoint.ts';
import type { DeviceHealthReport } from './resourceDrivers.ts';

/**
 * Maximum length in bytes of a health message in a container's status. Longer messages are truncated and end with an
 * ellipsis.
 */
const MAX_MESSAGE_BYTES = 1_024;

type DeviceHealth = NonNullable<ClaimDevice['health']>;

export class DeviceHealths {
  readonly #clock: Clock;
  /** Keyed by driver, and then by pool and device. */
  readonly #records = new Map<string, Map<string, DeviceHealthRecord>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Restores the reports that an earlier run of the agent stored. */
  restore(records: readonly DeviceHealthRecord[]): void {
    for (const record of records) {
      const { driver } = record;
      const recordsOfDriver = this.#records.get(driver) ?? new Map<string, DeviceHealthRecord>();
      this.#records.set(driver, recordsOfDriver.set(deviceKey(record), record));
    }
  }

  /**
   * Records a complete list of a driver's devices. A device that is missing from the list retains its last reported
   * health until that report expires. Returns whether anything except the times of the reports has changed.
   */
  update(driver: string, reports: readonly DeviceHealthReport[]): boolean {
    const now = this.#clock.now();
    const previousRecords = this.#records.get(driver) ?? new Map<string, DeviceHealthRecord>();
    const records = new Map([...previousRecords].filter(([, record]) => expiryOf(record) >= now));
    let isChanged = records.size < previousRecords.size;
    for (const { timeoutSeconds, status, message, ...device } of reports) {
      const timeoutMs = timeoutSeconds > 0 ? timeoutSeconds * 1_000 : DEFAULT_HEALTH_TIMEOUT_MS;
      const record = { ...device, driver, status, message: shortenMessage(message), updatedAt: now, timeoutMs };
      const previous = previousRecords.get(deviceKey(device));
      isChanged ||=
        previous?.status !== status || previous.message !== record.message || previous.timeoutMs !== timeoutMs;
      records.set(deviceKey(device), record);
    }
    this.#records.set(driver, records);
    return isChanged;
  }

  /** Drops the reports of a driver. Returns whether there were any. */
  clear(driver: string): boolean {
    return this.#records.delete(driver);
  }

  /** Returns the last report about each device. */
  lastReports(): readonly DeviceHealthRecord[] {
    return [...this.#records.values()].flatMap((records) => [...records.values()]);
  }

  /** Returns the health of a device. Undefined if the driver has not reported it recently. */
  find(driver: string, device: Pick<ClaimDevice, 'poolName' | 'deviceName'>): DeviceHealth | undefined {
    const record = this.#records.get(driver)?.get(deviceKey(device));
    if (record === undefined || expiryOf(record) < this.#clock.now()) return undefined;
    const { status, message } = record;
    return { status, message };
  }

  /** Returns the time at which the next health report expires, or Infinity if there are no reports. */
  nextExpiry(): number {
    const now = this.#clock.now();
    return (
      Math.min(
        ...this.lastReports()
          .map(expiryOf)
          .filter((at) => at >= now),
      ) + 1
    );
  }
}

const deviceKey = ({ poolName, deviceName }: Pick<ClaimDevice, 'poolName' | 'deviceName'>): string =>
  `${poolName}/${deviceName}`;

const expiryOf = ({ updatedAt, timeoutMs }: DeviceHealthRecord): number => updatedAt + timeoutMs;

function shortenMessage(message: string): string {
  const bytes = Buffer.from(message);
  return bytes.length <= MAX_MESSAGE_BYTES ? message : `${bytes.subarray(0, MAX_MESSAGE_BYTES - 3).toString()}...`;
}
