import { expect, test } from '@jest/globals';
import { formatClaimCheckpoint, parseClaimCheckpoint } from '../../../kubernetes/claims/claimCheckpoint.ts';
import type { ClaimDevice, ClaimState } from '../../../kubernetes/claims/claimState.ts';

// The checkpoints and checksums are those of `pkg/kubelet/cm/dra/state/checkpointer_test.go`.

const POD = '139cdb46-f989-4f17-9561-ca10cfb509a6';
const SHARE = 'aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa';
const FIRST = { ClaimUID: '067798be-454e-4be4-9047-1aa06aea63f7', ClaimName: 'example' };
const SECOND = { ClaimUID: '4cf8db2d-06c0-7d70-1a51-e59b25b2c16c', ClaimName: 'example-2' };
const CDI = { CDIDeviceIDs: ['example.com/example=cdi-example'] };

/** Returns a device in the fields of a checkpoint. */
const stored = (name: string, share: string | null = null) => ({
  PoolName: 'worker-1',
  DeviceName: name,
  ShareID: share,
  RequestNames: ['test request'],
  ...CDI,
});
const BARE = { PoolName: 'worker-1', DeviceName: 'dev-2', ShareID: null, RequestNames: null, CDIDeviceIDs: null };
const WITHOUT_REQUESTS = { PoolName: 'worker-1', DeviceName: 'dev-1', ...CDI };

const storedClaim = (claim: object, devices: readonly object[]) => ({
  ...claim,
  Namespace: 'default',
  PodUIDs: { [POD]: {} },
  DriverState: { 'test-driver.cdi.k8s.io': { Devices: devices } },
});

const checkpoint = (claims: readonly object[], Checksum: number, version = 'v1') =>
  JSON.stringify({
    Data: JSON.stringify({
      kind: 'DRACheckpoint',
      apiVersion: `checkpoint.dra.kubelet.k8s.io/${version}`,
      ClaimInfoStateList: claims,
    }),
    Checksum,
  });

const device = (deviceName: string, changes: Partial<ClaimDevice> = {}): ClaimDevice => ({
  poolName: 'worker-1',
  deviceName,
  shareId: undefined,
  requestNames: ['test request'],
  cdiIds: ['example.com/example=cdi-example'],
  ...changes,
});

const claim = (name: string, uid: string, devices: readonly ClaimDevice[]): ClaimState => ({
  uid,
  name,
  namespace: 'default',
  podUids: [POD],
  drivers: [{ name: 'test-driver.cdi.k8s.io', devices }],
  isPrepared: false,
});

const VECTORS: [title: string, text: string, claims: ClaimState[]][] = [
  [
    'one claim',
    checkpoint([storedClaim(FIRST, [stored('dev-1')])], 2570581864),
    [claim('example', FIRST.ClaimUID, [device('dev-1')])],
  ],
  [
    'a share of a device',
    checkpoint([storedClaim(FIRST, [stored('dev-1', SHARE)])], 736302156),
    [claim('example', FIRST.ClaimUID, [device('dev-1', { shareId: SHARE })])],
  ],
  [
    'several devices',
    checkpoint([storedClaim(FIRST, [stored('dev-1'), stored('dev-2')])], 1223221469),
    [claim('example', FIRST.ClaimUID, [device('dev-1'), device('dev-2')])],
  ],
  [
    'several claims',
    checkpoint(
      [storedClaim({ ...FIRST, ClaimName: 'example-1' }, [stored('dev-1')]), storedClaim(SECOND, [BARE])],
      2820117767,
    ),
    [
      claim('example-1', FIRST.ClaimUID, [device('dev-1')]),
      claim('example-2', SECOND.ClaimUID, [device('dev-2', { requestNames: [], cdiIds: [] })]),
    ],
  ],
];

test.each(VECTORS)('reads the checkpoint of a kubelet with %s', (_, text, claims) => {
  expect(parseClaimCheckpoint(text)).toEqual(claims);
});

test.each(VECTORS)('writes the checkpoint of a kubelet with %s', (_, text, claims) => {
  expect(formatClaimCheckpoint(claims)).toBe(text);
});

test.each([
  ['v1', 1137250765],
  ['v0', 1284376732],
])('reads a checkpoint of version %s whose devices have no request names', (version, checksum) => {
  const text = checkpoint([storedClaim(FIRST, [WITHOUT_REQUESTS])], checksum, version);
  expect(parseClaimCheckpoint(text)).toEqual([
    claim('example', FIRST.ClaimUID, [device('dev-1', { requestNames: [] })]),
  ]);
});

test.each([
  [checkpoint([storedClaim(FIRST, [stored('dev-1')])], 2570581865), 'checkpoint is corrupted'],
  ['{', 'JSON'],
])('rejects the damaged checkpoint %s', (text, message) => {
  expect(() => parseClaimCheckpoint(text)).toThrow(message);
});
