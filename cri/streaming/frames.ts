/** The frames of SPDY/3.1 (draft-mbelshe-httpbis-spdy-00, section 2) and their bytes. */
import { malformed } from './failure.ts';

/** What a stream is about; its names and values are compressed (`headerCodec.ts`). */
interface WithBlock {
  readonly streamId: number;
  readonly fin: boolean;
  readonly block: Uint8Array;
}

interface SynStream extends WithBlock {
  readonly type: 'synStream';
  readonly associatedId: number;
  readonly priority: number;
  readonly unidirectional: boolean;
}

interface Setting {
  readonly id: number;
  readonly flags: number;
  readonly value: number;
}

/** A frame about streams or the connection, not of a stream's data. */
export type ControlFrame =
  | SynStream
  | (WithBlock & { readonly type: 'synReply' })
  | (WithBlock & { readonly type: 'headers' })
  | { readonly type: 'rstStream'; readonly streamId: number; readonly status: number }
  | { readonly type: 'settings'; readonly clear: boolean; readonly entries: readonly Setting[] }
  | { readonly type: 'ping'; readonly id: number }
  | { readonly type: 'goAway'; readonly lastStreamId: number; readonly status: number }
  | { readonly type: 'windowUpdate'; readonly streamId: number; readonly delta: number };

/** Some of a stream's bytes: one reads them as they come, perhaps a part of what was sent as one frame. */
interface DataFrame {
  readonly type: 'data';
  readonly streamId: number;
  readonly fin: boolean;
  readonly data: Uint8Array;
}

export type Frame = ControlFrame | DataFrame;

/** Why a stream is reset. */
export const RESET = { protocolError: 1, refused: 3, cancel: 5 } as const;

/** Why a connection ends. */
export const GO_AWAY = { ok: 0, protocolError: 1 } as const;

/** Of every frame: what it is, its flags and its length. */
export const HEAD_BYTES = 8;

const VERSION = 3;
const TYPES = {
  synStream: 1,
  synReply: 2,
  rstStream: 3,
  settings: 4,
  ping: 6,
  goAway: 7,
  headers: 8,
  windowUpdate: 9,
} as const;
const FIN = 1;
const UNIDIRECTIONAL = 2;
const CLEAR = 1;
const ID_MASK = 0x7fff_ffff;

function control(type: ControlFrame['type'], flags: number, words: readonly number[], rest?: Uint8Array): Buffer {
  const bytes = Buffer.alloc(HEAD_BYTES + words.length * 4);
  bytes.writeUInt16BE(0x8000 | VERSION, 0);
  bytes.writeUInt16BE(TYPES[type], 2);
  bytes.writeUInt32BE(words.length * 4 + (rest?.length ?? 0), 4);
  bytes.writeUInt8(flags, 4);
  for (const [index, word] of words.entries()) bytes.writeUInt32BE(word >>> 0, HEAD_BYTES + index * 4);
  return rest ? Buffer.concat([bytes, rest]) : bytes;
}

/** Stream, priority in the highest three bits of the next byte, and an empty credential slot, which takes half a word. */
function synStream({ streamId, associatedId, priority, fin, unidirectional, block }: SynStream): Buffer {
  const flags = (fin ? FIN : 0) | (unidirectional ? UNIDIRECTIONAL : 0);
  const slot = Buffer.from([priority << 5, 0]);
  return control('synStream', flags, [streamId, associatedId], Buffer.concat([slot, block]));
}

/** The bytes of a frame. */
export function encodeFrame(frame: Frame): Buffer {
  switch (frame.type) {
    case 'data':
      return Buffer.concat([dataHead(frame.streamId, frame.data.length, frame.fin), frame.data]);
    case 'synStream':
      return synStream(frame);
    case 'synReply':
    case 'headers':
      return control(frame.type, frame.fin ? FIN : 0, [frame.streamId], frame.block);
    case 'rstStream':
      return control(frame.type, 0, [frame.streamId, frame.status]);
    case 'settings': {
      const entries = frame.entries.flatMap(({ id, flags, value }) => [(flags << 24) | id, value]);
      return control(frame.type, frame.clear ? CLEAR : 0, [frame.entries.length, ...entries]);
    }
    case 'ping':
      return control(frame.type, 0, [frame.id]);
    case 'goAway':
      return control(frame.type, 0, [frame.lastStreamId, frame.status]);
    case 'windowUpdate':
      return control(frame.type, 0, [frame.streamId, frame.delta]);
  }
}

function dataHead(streamId: number, length: number, fin: boolean): Buffer {
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32BE(streamId, 0);
  head.writeUInt32BE(length, 4);
  head.writeUInt8(fin ? FIN : 0, 4);
  return head;
}

/** What the first eight bytes of a frame say. */
export type Head =
  | { readonly isControl: true; readonly type: number; readonly flags: number; readonly length: number }
  | { readonly isControl: false; readonly streamId: number; readonly fin: boolean; readonly length: number };

/** Reads the first eight bytes of a frame; throws when they are those of no SPDY/3 frame. */
export function readHead(bytes: Buffer): Head {
  const flags = bytes.readUInt8(4);
  const length = bytes.readUIntBE(5, 3);
  const first = bytes.readUInt32BE(0);
  if (first <= ID_MASK) {
    if (first === 0) throw malformed('a DATA frame names no stream');
    return { isControl: false, streamId: first, fin: (flags & FIN) !== 0, length };
  }
  const version = (first >>> 16) & 0x7fff;
  if (version !== VERSION) throw malformed(`a frame has the version ${version}, expected SPDY/${VERSION}`);
  return { isControl: true, type: first & 0xffff, flags, length };
}

/** The least and, where it is fixed, the only length of each type of frame behind its head. */
const LENGTHS = new Map<number, readonly [name: ControlFrame['type'], least: number, most?: number]>([
  [TYPES.synStream, ['synStream', 10]],
  [TYPES.synReply, ['synReply', 4]],
  [TYPES.rstStream, ['rstStream', 8, 8]],
  [TYPES.settings, ['settings', 4]],
  [TYPES.ping, ['ping', 4, 4]],
  [TYPES.goAway, ['goAway', 8, 8]],
  [TYPES.headers, ['headers', 4]],
  [TYPES.windowUpdate, ['windowUpdate', 8, 8]],
]);

/** A control frame of what follows its head; undefined for a type that nobody knows, which is to be ignored. */
export function readControl(type: number, flags: number, payload: Buffer): ControlFrame | undefined {
  const [name, least, most = payload.length] = LENGTHS.get(type) ?? [];
  if (name === undefined || least === undefined) return undefined;
  if (payload.length < least || payload.length > most)
    throw malformed(`a frame of the type ${name} has ${payload.length} bytes, expected ${least}`);
  const frame = fieldsOf(name, flags, payload);
  if ('streamId' in frame && frame.streamId === 0) throw malformed(`a frame of the type ${name} names no stream`);
  return frame;
}

function fieldsOf(type: ControlFrame['type'], flags: number, payload: Buffer): ControlFrame {
  const first = payload.readUInt32BE(0);
  const second = () => payload.readUInt32BE(4);
  const streamId = first & ID_MASK;
  const fin = (flags & FIN) !== 0;
  switch (type) {
    case 'synStream': {
      const [associatedId, priority] = [second() & ID_MASK, payload.readUInt8(8) >>> 5];
      const unidirectional = (flags & UNIDIRECTIONAL) !== 0;
      return { type, streamId, associatedId, priority, fin, unidirectional, block: payload.subarray(10) };
    }
    case 'synReply':
    case 'headers':
      return { type, streamId, fin, block: payload.subarray(4) };
    case 'rstStream':
      return { type, streamId, status: second() };
    case 'settings':
      return { type, clear: (flags & CLEAR) !== 0, entries: settingsOf(first, payload) };
    case 'ping':
      return { type, id: first };
    case 'goAway':
      return { type, lastStreamId: streamId, status: second() };
    case 'windowUpdate':
      return { type, streamId, delta: second() & ID_MASK };
  }
}

function settingsOf(count: number, payload: Buffer): Setting[] {
  if (payload.length !== 4 + count * 8)
    throw malformed(`a SETTINGS frame of ${payload.length} bytes says that it has ${count} entries`);
  return Array.from({ length: count }, (_, index) => {
    const at = 4 + index * 8;
    return { flags: payload.readUInt8(at), id: payload.readUIntBE(at + 1, 3), value: payload.readUInt32BE(at + 4) };
  });
}
