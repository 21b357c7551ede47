import { createHash } from 'node:crypto';
import { access, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { NodeFailure } from '../../base/failure.ts';
import { type Layout, sharedDirectory } from './layout.ts';

/** A block of IPv4 addresses: all whose bits under the mask are those of the base. */
interface Block {
  readonly base: number;
  readonly mask: number;
}

/** Finds the subnet of the pods, an IPv4 /24, and holds it until `releaseSubnet`; its own from before is kept. */
export async function holdSubnet(layout: Layout, wanted?: string): Promise<string> {
  const before = await readText(layout.subnetFile);
  const bridgeIsUp = await exists(join('/sys/class/net', layout.bridge));
  if (before !== undefined && bridgeIsUp) {
    if (wanted === undefined || wanted === before) return before;
    const message = `pods are still running in ${before}: the pod network can be changed to ${wanted} once they have terminated`;
    throw new NodeFailure('RuntimeUnavailable', message);
  }
  const routes = parseRoutes(await readFile('/proc/net/route', 'utf8'));
  const candidates = wanted === undefined ? candidateSubnets(layout.directory, routes) : [wanted];
  for (const subnet of before === undefined || wanted !== undefined ? candidates : [before, ...candidates]) {
    if (wanted === undefined && routes.some((route) => overlaps(route, parseSubnet(subnet)))) continue;
    if (await reserve(layout, subnet)) return subnet;
  }
  throw new NodeFailure('RuntimeUnavailable', 'no free private IPv4 subnet for the pods');
}

/** Gives the subnet back. */
export async function releaseSubnet(layout: Layout): Promise<void> {
  const subnet = await readText(layout.subnetFile);
  if (subnet === undefined) return;
  if ((await readText(reservationFile(subnet))) === layout.directory)
    await rm(reservationFile(subnet), { force: true });
  await rm(layout.subnetFile, { force: true });
}

/** The host's routes out of `/proc/net/route`, without the default route. */
export function parseRoutes(table: string): Block[] {
  const rows = table
    .split('\n')
    .slice(1)
    .map((line) => line.split('\t'));
  return rows.flatMap((row) => {
    const [, destination, , , , , , mask] = row;
    if (destination === undefined || mask === undefined || mask === '00000000') return [];
    return [{ base: littleEndian(destination), mask: littleEndian(mask) }];
  });
}

/** The private /24 subnets that no route touches, each directory beginning at another one. */
export function* candidateSubnets(directory: string, routes: readonly Block[]): Generator<string> {
  const start = createHash('sha256').update(directory).digest().readUInt16BE();
  for (let step = 0; step < 65_536; step++) {
    const index = (start + step) % 65_536;
    const subnet = `10.${index >> 8}.${index & 255}.0/24`;
    if (!routes.some((route) => overlaps(route, parseSubnet(subnet)))) yield subnet;
  }
}

/** `a.b.c.d/n` as a block. */
export function parseSubnet(subnet: string): Block {
  const [address = '', length = '32'] = subnet.split('/');
  const bits = address.split('.').reduce((sum, byte) => sum * 256 + Number(byte), 0);
  const mask = Number(length) === 0 ? 0 : (-1 << (32 - Number(length))) >>> 0;
  return { base: (bits & mask) >>> 0, mask };
}

/** Whether two blocks share an address: then the larger one holds the smaller. */
export function overlaps(a: Block, b: Block): boolean {
  const mask = a.mask & b.mask;
  return (a.base & mask) === (b.base & mask);
}

function littleEndian(hex: string): number {
  return Buffer.from(hex, 'hex').readUInt32LE();
}

/** A reservation is a file that names its owner; what the owner wrote of the subnet before proves it. */
async function reserve(layout: Layout, subnet: string): Promise<boolean> {
  const file = reservationFile(subnet);
  await mkdir(dirname(file), { recursive: true });
  const owner = await readText(file);
  if (owner !== undefined && owner !== layout.directory) {
    if ((await readText(join(owner, 'cni', 'subnet'))) === subnet) return false;
    await rm(file, { force: true });
  }
  await writeFile(layout.subnetFile, subnet);
  if (owner === layout.directory) return true;
  // Another may have reserved it since we looked: then the file is there and its own.
  return writeFile(file, layout.directory, { flag: 'wx' }).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'EEXIST') return false;
      throw error;
    },
  );
}

function reservationFile(subnet: string): string {
  return join(sharedDirectory, 'subnets', subnet.replace('/', '-'));
}

function readText(file: string): Promise<string | undefined> {
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
