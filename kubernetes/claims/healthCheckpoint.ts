/**
 * Reads and writes the kubelet's checkpoint file of the health of devices, `dra_health_state`
 * (`pkg/kubelet/cm/dra/healthinfo.go`).
 */
import * as z from 'zod/mini';
import type { DeviceHealthStatus } from './claimState.ts';

/** Time in milliseconds after which a report is outdated, unless the driver specifies a different time. */
export const DEFAULT_HEALTH_TIMEOUT_MS = 30_000;
const NANOSECONDS_PER_MS = 1_000_000;

/** The last report about a device. */
export interface DeviceHealthRecord {
  readonly driver: string;
  readonly poolName: string;
  readonly deviceName: string;
  readonly status: DeviceHealthStatus;
  readonly message: string;
  /** Time of the report, in milliseconds since the epoch. */
  readonly updatedAt: number;
  readonly timeoutMs: number;
}

const deviceSchema = z.looseObject({
  PoolName: z._default(z.string(), ''),
  DeviceName: z._default(z.string(), ''),
  Health: z._default(z.string(), ''),
  LastUpdated: z.string(),
  HealthCheckTimeout: z._default(z.number(), 0),
  Message: z._default(z.string(), ''),
});
const driverSchema = z.looseObject({ Devices: z.optional(z.nullable(z.record(z.string(), deviceSchema))) });
const checkpointSchema = z.record(z.string(), driverSchema);

/** Parses a checkpoint. Throws an error if the file is damaged. */
export function parseHealthCheckpoint(text: string): DeviceHealthRecord[] {
  return Object.entries(checkpointSchema.parse(JSON.parse(text))).flatMap(([driver, { Devices: devices }]) =>
    Object.values(devices ?? {}).map((device) => {
      const updatedAt = Date.parse(device.LastUpdated);
      if (Number.isNaN(updatedAt)) throw new Error(`LastUpdated is not a time: ${device.LastUpdated}`);
      return {
        driver,
        poolName: device.PoolName,
        deviceName: device.DeviceName,
        status: device.Health === 'Healthy' || device.Health === 'Unhealthy' ? device.Health : 'Unknown',
        message: device.Message,
        updatedAt,
        // Replace 0 by the default. Versions that supported only the default timeout wrote 0.
        timeoutMs: device.HealthCheckTimeout / NANOSECONDS_PER_MS || DEFAULT_HEALTH_TIMEOUT_MS,
      };
    }),
  );
}

/** Formats a checkpoint like the kubelet, with sorted names. Drivers without devices are not part of it. */
export function formatHealthCheckpoint(records: readonly DeviceHealthRecord[]): string {
  const drivers = [...Map.groupBy(records, ({ driver }) => driver)].map(
    ([driver, devices]) => [driver, { Devices: sortedObject(devices.map(formatDevice)) }] as const,
  );
  return JSON.stringify(sortedObject(drivers));
}

const formatDevice = ({ poolName, deviceName, status, message, updatedAt, timeoutMs }: DeviceHealthRecord) => {
  const device = {
    PoolName: poolName,
    DeviceName: deviceName,
    Health: status,
    LastUpdated: new Date(updatedAt).toISOString(),
    HealthCheckTimeout: timeoutMs * NANOSECONDS_PER_MS,
    Message: message,
  };
  return [`${poolName}/${deviceName}`, device] as const;
};

const sortedObject = (entries: readonly (readonly [name: string, value: object])[]): object =>
  Object.fromEntries(entries.toSorted(([first], [second]) => (first < second ? -1 : 1)));
