/** Faults of the host that last for a while, unlike the faults of single calls. */
import type { SimulatedResponse, SimulatedServer } from '../../../actors/simulated/connection.ts';
import type { Random } from '../random.ts';
import type { CallFault, CallTarget, OutsideCall } from '../run/gate.ts';
import { codesOf, isRejectionCode } from './failures.ts';

/** `noDescriptors` means that the agent has too many open files, `tableFull` that the host has. */
export type DiskFault = 'full' | 'readOnly' | 'failing' | 'noDescriptors' | 'tableFull';

/** The calls that create something and therefore need space on the disk. */
const ALLOCATING: ReadonlySet<string> = new Set([
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
const KERNEL_CALLS: ReadonlySet<string> = new Set(['mount', 'unmount', 'mountAt', 'mountsUnder', 'watch', 'close']);

const ERROR_CODES: Readonly<Record<DiskFault, (call: OutsideCall) => string | undefined>> = {
  full: ({ name, writes }) => (writes && ALLOCATING.has(name) ? 'ENOSPC' : undefined),
  readOnly: ({ name, writes }) => (writes && !KERNEL_CALLS.has(name) ? 'EROFS' : undefined),
  failing: ({ name }) => (KERNEL_CALLS.has(name) ? undefined : 'EIO'),
  noDescriptors: ({ name }) => (OPENING.has(name) ? 'EMFILE' : undefined),
  tableFull: ({ name }) => (OPENING.has(name) ? 'ENFILE' : undefined),
};

/** Returns the fault of a call while the disk has this fault, or undefined if the fault does not affect the call. */
export function diskCallFault(fault: DiskFault, call: OutsideCall, random: Random): CallFault | undefined {
  const isAffected =
    call.target === 'disk' || call.target === 'mounts' || fault === 'noDescriptors' || fault === 'tableFull';
  const code = isAffected && call.target !== 'runtime' ? ERROR_CODES[fault](call) : undefined;
  if (code === undefined) return undefined;
  // Sometimes there is room for a directory entry or the first part of the contents.
  if (fault !== 'full' || random.chance(0.5)) return { kind: 'fail', code };
  return call.name === 'open' ? undefined : { kind: 'fail', code, inPart: true };
}

/** Share of lost replies among the faults of a flaky target. */
const LOST_REPLY_SHARE = 0.2;

/** A target for which a share of the calls fail with random errors. */
export class FlakyTarget {
  readonly #target: CallTarget;
  readonly #share: number;
  readonly #random: Random;

  constructor(target: CallTarget, share: number, random: Random) {
    this.#target = target;
    this.#share = share;
    this.#random = random;
  }

  faultOf(call: OutsideCall): CallFault | undefined {
    if (call.target !== this.#target || !this.#random.chance(this.#share)) return undefined;
    const code = this.#random.pick(codesOf(call));
    if (!call.writes || !this.#random.chance(LOST_REPLY_SHARE)) return { kind: 'fail', code };
    return { kind: 'lostReply', code: isRejectionCode(code) ? 'ECONNRESET' : code };
  }
}

/** The faults of the server at the manifest URL. */
export type UrlFault = 'refused' | 'silent' | 'hanging' | 'half' | 'garbage' | 'failing' | 'slow';

const HALF = { bytes: 200, ending: 'closed' } as const;

/** Returns the server at the manifest URL, which serves this body subject to the fault. */
export function createServer(text: string, fault: UrlFault | undefined): SimulatedServer {
  if (fault === 'refused' || fault === 'silent') return { connection: fault };
  if (fault === 'hanging') return {};
  const responses: Readonly<Record<Exclude<UrlFault, 'refused' | 'silent' | 'hanging'>, SimulatedResponse>> = {
    half: { body: text, cut: HALF },
    garbage: { body: '<html>try again</html>' },
    failing: { status: 503, body: 'try again' },
    slow: { body: text, delayMs: 8_000 },
  };
  return { respond: () => (fault === undefined ? { body: text } : responses[fault]) };
}
