/** What a host can suffer from for a while, beside the faults of single calls. */
import type { SimulatedAnswer, SimulatedServer } from '../../../actors/simulated/connection.ts';
import type { Random } from '../random.ts';
import type { Fate, OutsideCall, Room } from '../run/outside.ts';
import { codesOf, isRefusal } from './failures.ts';

/** The table of open files is full: `noDescriptors`, that of the agent; `tableFull`, that of the host. */
export type DiskTrouble = 'full' | 'readOnly' | 'failing' | 'noDescriptors' | 'tableFull';

/** What makes something on a disk that there was not, and so needs room. */
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
/** What has to open a file, or to start a program. */
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
/** What is no matter of the disk itself. */
const KERNELS: ReadonlySet<string> = new Set(['mount', 'unmount', 'mountAt', 'mountsUnder', 'watch', 'close']);

const SUFFERS: Readonly<Record<DiskTrouble, (call: OutsideCall) => string | undefined>> = {
  full: ({ name, writes }) => (writes && GROWING.has(name) ? 'ENOSPC' : undefined),
  readOnly: ({ name, writes }) => (writes && !KERNELS.has(name) ? 'EROFS' : undefined),
  failing: ({ name }) => (KERNELS.has(name) ? undefined : 'EIO'),
  noDescriptors: ({ name }) => (OPENING.has(name) ? 'EMFILE' : undefined),
  tableFull: ({ name }) => (OPENING.has(name) ? 'ENFILE' : undefined),
};

/** What becomes of a call in such a trouble, of which `random` draws a part; undefined where it does not suffer from it. */
export function sufferedBy(trouble: DiskTrouble, call: OutsideCall, random: Random): Fate | undefined {
  const isConcerned =
    call.room === 'disk' || call.room === 'mounts' || trouble === 'noDescriptors' || trouble === 'tableFull';
  const code = isConcerned && call.room !== 'runtime' ? SUFFERS[trouble](call) : undefined;
  if (code === undefined) return undefined;
  // A little room is left at times: for a name, or the beginning of what is written.
  if (trouble !== 'full' || random.chance(0.5)) return { kind: 'fail', code };
  return call.name === 'open' ? undefined : { kind: 'fail', code, inPart: true };
}

/** A lost reply is one of so many faults of a room that is flaky. */
const LOST = 0.2;

/** A room of which some calls fail, each in a way that is drawn. */
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

/** How a server of manifests can be ill. */
export type UrlTrouble = 'refused' | 'silent' | 'hanging' | 'half' | 'garbage' | 'failing' | 'slow';

const HALF = { bytes: 200, ending: 'closed' } as const;

/** How a server answers that gives a text, if nothing else is the matter with it. */
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
