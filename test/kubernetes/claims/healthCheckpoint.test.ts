import { expect, test } from '@jest/globals';
import {
  type DeviceHealthRecord,
  formatHealthCheckpoint,
  parseHealthCheckpoint,
} from '../../../kubernetes/claims/healthCheckpoint.ts';

const record = (deviceName: string, changes: Partial<DeviceHealthRecord> = {}): DeviceHealthRecord => ({
  driver: 'test-driver',
  poolName: 'test-pool',
  deviceName,
  status: 'Healthy',
  message: '',
  updatedAt: Date.UTC(2026, 4, 1, 10, 30, 0, 250),
  timeoutMs: 30_000,
  ...changes,
});

/** A device as a kubelet stores it (`DeviceHealth` in `pkg/kubelet/cm/dra/state/state.go`). */
const stored = (name: string, changes: object = {}) => ({
  PoolName: 'test-pool',
  DeviceName: name,
  Health: 'Healthy',
  LastUpdated: '2026-05-01T10:30:00.25Z',
  HealthCheckTimeout: 30_000_000_000,
  Message: '',
  ...changes,
});

const VECTORS: [title: string, drivers: object, records: DeviceHealthRecord[]][] = [
  ['no driver', {}, []],
  [
    'two devices of a driver, and one of another',
    {
      other: { Devices: { 'test-pool/d': stored('d', { Health: 'Unknown', HealthCheckTimeout: 60_000_000_000 }) } },
      'test-driver': {
        Devices: {
          'test-pool/device2': stored('device2', { Health: 'Unhealthy', Message: 'too hot' }),
          'test-pool/test-device': stored('test-device'),
        },
      },
    },
    [
      record('d', { driver: 'other', status: 'Unknown', timeoutMs: 60_000 }),
      record('device2', { status: 'Unhealthy', message: 'too hot' }),
      record('test-device'),
    ],
  ],
];

test.each(VECTORS)('C50: the health of devices is stored like a kubelet stores it: %s', (_, drivers, records) => {
  expect(parseHealthCheckpoint(JSON.stringify(drivers))).toEqual(records);
  const written = JSON.stringify(drivers).replaceAll('00.25Z', '00.250Z');
  expect(formatHealthCheckpoint(records.toReversed())).toBe(written);
});

test('C50: a driver without devices, and a device of a version without timeouts and messages, are read', () => {
  const { HealthCheckTimeout: _timeout, Message: _message, ...early } = stored('d');
  const time = '2026-05-01T12:30:00.250987654+02:00';
  const drivers = { none: { Devices: null }, 'test-driver': { Devices: { d: { ...early, LastUpdated: time } } } };
  expect(parseHealthCheckpoint(JSON.stringify(drivers))).toEqual([record('d')]);
});

test.each([
  ['an empty file', ''],
  ['a file without devices', '[]'],
  ['a time that is none', JSON.stringify({ d: { Devices: { a: stored('a', { LastUpdated: 'yesterday' }) } } })],
])('C50: %s is damaged', (_, text) => {
  expect(() => parseHealthCheckpoint(text)).toThrow();
});
