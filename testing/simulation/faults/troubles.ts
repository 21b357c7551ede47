/** Faults of the host that last for a while, in addition to the faults of single calls. */
import type { SimulatedAnswer, SimulatedServer } from '../../../actors/simulated/connection.ts';
import type { Random } from '../random.ts';
import type { Fate, OutsideCall, Room } from '../run/outside.ts';
import { codesOf, isRefusal } from './failures.ts';

/** `noDescriptors` means that the agent has too many open files, `tableFull` that the host has. */
export type DiskTrouble = 'full' | 'readOnly' | 'failing' | 'noDescriptors' | 'tableFull';

/** The calls that create something and so need space on the disk. */
const GROWING: ReadonlySet<string> = new Set([
  'writeFile',
  'mkdir',
  'mkdtemp',
  'symlink',
  'gzip',
  'open',
  'bind',
  'touch',
]);
/** The calls that open a file or start a program. */
const OPENING: ReadonlySet<string> = new Set([
  'open',
  'readdir',
  'readdirBytes',
  'readFile',
  'entries',
  'tail',
  'writeFile',
  'gzip',
  'removeTree',
  'readFileSync',
  'watch',
  'mount',
  'unmount',
  'bind',
  'connect',
  'fetch',
]);
/** The calls that do not use the disk itself. */
const KERNELS: ReadonlySet<string> = new Set(['mount', 'unmount', 'mountAt', 'mountsUnder', 'watch', 'close']);

const SUFFERS: Readonly<Record<DiskTrouble, (call: OutsideCall) => string | undefined>> = {
  full: ({ name, writes }) => (writes && GROWING.has(name) ? 'ENOSPC' : undefined),
  readOnly: ({ name, writes }) => (writes && !KERNELS.has(name) ? 'EROFS' : undefined),
  failing: ({ name }) => (KERNELS.has(name) ? undefined : 'EIO'),
  noDescriptors: ({ name }) => (OPENING.has(name) ? 'EMFILE' : undefined),
  tableFull: ({ name }) => (OPENING.has(name) ? 'ENFILE' : undefined),
};

/** Returns the fate of a call while the disk has this fault, or undefined if the fault does not affect the call. */
export function sufferedBy(trouble: DiskTrouble, call: OutsideCall, random: Random): Fate | undefined {
  const isConcerned =
    call.room === 'disk' || call.room === 'mounts' || trouble === 'noDescriptors' || trouble === 'tableFull';
  const code = isConcerned && call.room !== 'runtime' ? SUFFERS[trouble](call) : undefined;
  if (code === undefined) return undefined;
  // Sometimes there is room for a directory entry or the first part of the contents.
  if (trouble !== 'full' || random.chance(0.5)) return { kind: 'fail', code };
  return call.name === 'open' ? undefined : { kind: 'fail', code, inPart: true };
}

/** The share of lost replies among the faults of a flaky room. */
const LOST = 0.2;

/** A room where a share of the calls fail with random errors. */
export class FlakyRoom {
  readonly #room: Room;
  readonly #share: number;
  readonly #random: Random;

  constructor(room: Room, share: number, random: Random) {
    this.#room = room;
    this.#share = share;
    this.#random = random;
  }

  fateOf(call: OutsideCall): Fate | undefined {
    if (call.room !== this.#room || !this.#random.chance(this.#share)) return undefined;
    const code = this.#random.pick(codesOf(call));
    if (!call.writes || !this.#random.chance(LOST)) return { kind: 'fail', code };
    return { kind: 'lostReply', code: isRefusal(code) ? 'ECONNRESET' : code };
  }
}

/** The faults of the server at the manifest URL. */
export type UrlTrouble = 'refused' | 'silent' | 'hanging' | 'half' | 'garbage' | 'failing' | 'slow';

const HALF = { bytes: 200, ending: 'closed' } as const;

/** Returns a server with this body and fault. */
export function serverOf(text: string, trouble: UrlTrouble | undefined): SimulatedServer {
  if (trouble === 'refused' || trouble === 'silent') return { connection: trouble };
  if (trouble === 'hanging') return {};
  const answers: Readonly<Record<Exclude<UrlTrouble, 'refused' | 'silent' | 'hanging'>, SimulatedAnswer>> = {
    half: { body: text, cut: HALF },
    garbage: { body: '<html>try again</html>' },
    failing: { status: 503, body: 'try again' },
    slow: { body: text, delayMs: 8_000 },
  };
  return { answer: () => (trouble === undefined ? { body: text } : answers[trouble]) };
}
