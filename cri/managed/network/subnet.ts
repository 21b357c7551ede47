import { createHash } from 'node:crypto';
import { access, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { NodeFailure } from '../../../base/failure.ts';
import { type Layout, SHARED_DIRECTORY } from '../layout.ts';

/** A block of IPv4 addresses. An address is in the block if its bits under the mask equal `baseAddress`. */
interface AddressBlock {
  readonly baseAddress: number;
  readonly mask: number;
}

/** Reserves an IPv4 subnet for the pods until `releaseSubnet`. Prefers the subnet that was used before. */
export async function reserveSubnet(layout: Layout, requestedSubnet?: string): Promise<string> {
  const previousSubnet = await readFileIfExists(layout.subnetFile);
  const hasBridge = await exists(join('/sys/class/net', layout.bridge));
  if (previousSubnet !== undefined && hasBridge) {
    if (requestedSubnet === undefined || requestedSubnet === previousSubnet) return previousSubnet;
    const message = `pods are still running in ${previousSubnet}: the pod network can be changed to ${requestedSubnet} once they have terminated`;
    throw new NodeFailure('RuntimeUnavailable', message);
  }
  const routes = parseRoutes(await readFile('/proc/net/route', 'utf8'));
  const candidateSubnets =
    requestedSubnet === undefined ? generateSubnets(layout.directory, routes) : [requestedSubnet];
  for (const subnet of previousSubnet === undefined || requestedSubnet !== undefined
    ? candidateSubnets
    : [previousSubnet, ...candidateSubnets]) {
    if (requestedSubnet === undefined && routes.some((route) => blocksOverlap(route, parseSubnet(subnet)))) continue;
    if (await tryReserve(layout, subnet)) return subnet;
  }
  throw new NodeFailure('RuntimeUnavailable', 'no free private IPv4 subnet for the pods');
}

export async function releaseSubnet(layout: Layout): Promise<void> {
  const subnet = await readFileIfExists(layout.subnetFile);
  if (subnet === undefined) return;
  if ((await readFileIfExists(reservationPath(subnet))) === layout.directory)
    await rm(reservationPath(subnet), { force: true });
  await rm(layout.subnetFile, { force: true });
}

/** Parses the routes in `/proc/net/route` except the default route. */
export function parseRoutes(table: string): AddressBlock[] {
  const routeRows = table
    .split('\n')
    .slice(1)
    .map((line) => line.split('\t'));
  return routeRows.flatMap((row) => {
    const [, destination, , , , , , mask] = row;
    if (destination === undefined || mask === undefined || mask === '00000000') return [];
    return [{ baseAddress: parseLittleEndianHex(destination), mask: parseLittleEndianHex(mask) }];
  });
}

/** Yields private /24 subnets that do not overlap any route. The directory determines which one comes first. */
export function* generateSubnets(directory: string, routes: readonly AddressBlock[]): Generator<string> {
  const startIndex = createHash('sha256').update(directory).digest().readUInt16BE();
  for (let step = 0; step < 65_536; step++) {
    const index = (startIndex + step) % 65_536;
    const subnet = `10.${index >> 8}.${index & 255}.0/24`;
    if (!routes.some((route) => blocksOverlap(route, parseSubnet(subnet)))) yield subnet;
  }
}

/** Parses a subnet in CIDR notation. */
export function parseSubnet(subnet: string): AddressBlock {
  const [address = '', length = '32'] = subnet.split('/');
  const addressBits = address.split('.').reduce((sum, byte) => sum * 256 + Number(byte), 0);
  const mask = Number(length) === 0 ? 0 : (-1 << (32 - Number(length))) >>> 0;
  return { baseAddress: (addressBits & mask) >>> 0, mask };
}

/** Whether two blocks overlap. If they do, the larger one contains the smaller one. */
export function blocksOverlap(a: AddressBlock, b: AddressBlock): boolean {
  const commonMask = a.mask & b.mask;
  return (a.baseAddress & commonMask) === (b.baseAddress & commonMask);
}

function parseLittleEndianHex(hex: string): number {
  return Buffer.from(hex, 'hex').readUInt32LE();
}

/**
 * Reserves a subnet with a file that contains the owner's directory. An existing reservation is ignored unless its
 * owner has recorded the same subnet.
 */
async function tryReserve(layout: Layout, subnet: string): Promise<boolean> {
  const file = reservationPath(subnet);
  await mkdir(dirname(file), { recursive: true });
  const owner = await readFileIfExists(file);
  if (owner !== undefined && owner !== layout.directory) {
    if ((await readFileIfExists(join(owner, 'cni', 'subnet'))) === subnet) return false;
    await rm(file, { force: true });
  }
  await writeFile(layout.subnetFile, subnet);
  if (owner === layout.directory) return true;
  // Creating the file fails if another process has reserved the subnet in the meantime.
  return writeFile(file, layout.directory, { flag: 'wx' }).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'EEXIST') return false;
      throw error;
    },
  );
}

function reservationPath(subnet: string): string {
  return join(SHARED_DIRECTORY, 'subnets', subnet.replace('/', '-'));
}

function readFileIfExists(file: string): Promise<string | undefined> {
  return readFile(file, 'utf8').then(
    (text) => text,
    () => undefined,
  );
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
