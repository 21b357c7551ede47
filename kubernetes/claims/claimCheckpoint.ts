/**
 * Reads and writes the kubelet's checkpoint file of prepared claims, `dra_manager_state`
 * (`pkg/kubelet/cm/dra/state/checkpoint.go`).
 */
import * as z from 'zod/mini';
import type { ClaimDevice, ClaimState } from './claimState.ts';

const textsSchema = z.pipe(
  z.optional(z.nullable(z.array(z.string()))),
  z.transform((texts) => texts ?? []),
);

const deviceSchema = z.looseObject({
  PoolName: z._default(z.string(), ''),
  DeviceName: z._default(z.string(), ''),
  ShareID: z.optional(z.nullable(z.string())),
  RequestNames: textsSchema,
  CDIDeviceIDs: textsSchema,
});

const driverSchema = z.looseObject({ Devices: z.optional(z.nullable(z.array(deviceSchema))) });

const claimSchema = z.looseObject({
  ClaimUID: z.string(),
  ClaimName: z.string(),
  Namespace: z.string(),
  PodUIDs: z.optional(z.nullable(z.record(z.string(), z.unknown()))),
  DriverState: z.optional(z.nullable(z.record(z.string(), driverSchema))),
});

const checkpointSchema = z.object({ Data: z.string(), Checksum: z.number() });
const dataSchema = z.looseObject({ ClaimInfoStateList: z.optional(z.nullable(z.array(claimSchema))) });

/**
 * Parses a checkpoint. A checkpoint does not record whether the claims are prepared. Throws an error with the kubelet's
 * message if the file is damaged.
 */
export function parseClaimCheckpoint(text: string): ClaimState[] {
  const { Data: data, Checksum: checksum } = checkpointSchema.parse(JSON.parse(text));
  if (crc32(data) !== checksum) throw new Error('checkpoint is corrupted');
  return (dataSchema.parse(JSON.parse(data)).ClaimInfoStateList ?? []).map((claim) => ({
    uid: claim.ClaimUID,
    name: claim.ClaimName,
    namespace: claim.Namespace,
    podUids: Object.keys(claim.PodUIDs ?? {}),
    drivers: Object.entries(claim.DriverState ?? {}).map(([name, { Devices: devices }]) => ({
      name,
      devices: (devices ?? []).map((device) => ({
        poolName: device.PoolName,
        deviceName: device.DeviceName,
        shareId: device.ShareID ?? undefined,
        requestNames: device.RequestNames,
        cdiIds: device.CDIDeviceIDs,
      })),
    })),
    isPrepared: false,
  }));
}

/** Formats a checkpoint like the kubelet. */
export function formatClaimCheckpoint(claims: readonly ClaimState[]): string {
  const data = JSON.stringify({
    kind: 'DRACheckpoint',
    apiVersion: 'checkpoint.dra.kubelet.k8s.io/v1',
    ClaimInfoStateList: claims.map(({ uid, name, namespace, podUids, drivers }) => ({
      ClaimUID: uid,
      ClaimName: name,
      Namespace: namespace,
      PodUIDs: Object.fromEntries([...podUids].sort().map((podUid) => [podUid, {}])),
      DriverState: Object.fromEntries(
        [...drivers]
          .sort((first, second) => (first.name < second.name ? -1 : 1))
          .map((driver) => [driver.name, { Devices: nullIfEmpty(driver.devices.map(formatDevice)) }]),
      ),
    })),
  });
  return JSON.stringify({ Data: data, Checksum: crc32(data) });
}

const formatDevice = ({ poolName, deviceName, shareId, requestNames, cdiIds }: ClaimDevice) => ({
  PoolName: poolName,
  DeviceName: deviceName,
  ShareID: shareId ?? null,
  RequestNames: nullIfEmpty(requestNames),
  CDIDeviceIDs: nullIfEmpty(cdiIds),
});

/** Returns null for an empty list, as Go encodes a nil slice. */
const nullIfEmpty = <T>(list: readonly T[]): readonly T[] | null => (list.length === 0 ? null : list);

/** The reversed polynomial of CRC-32 (IEEE 802.3). */
const POLYNOMIAL = 0xedb88320;

function crc32(text: string): number {
  let remainder = 0xffffffff;
  for (const byte of new TextEncoder().encode(text)) {
    remainder ^= byte;
    for (let bit = 0; bit < 8; bit += 1) remainder = (remainder >>> 1) ^ (remainder & 1 ? POLYNOMIAL : 0);
  }
  return ~remainder >>> 0;
}
