/** Defines the frames of SPDY/3.1 (draft-mbelshe-httpbis-spdy-00, section 2) and their binary encoding. */
import { protocolFailure } from './failure.ts';

/** A frame with headers, which are compressed (see `headerCodec.ts`). */
interface HeaderFrame {
  readonly streamId: number;
  readonly fin: boolean;
  readonly block: Uint8Array;
}

interface SynStream extends HeaderFrame {
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

/** A frame that does not carry stream data. */
export type ControlFrame =
  | SynStream
  | (HeaderFrame & { readonly type: 'synReply' })
  | (HeaderFrame & { readonly type: 'headers' })
  | { readonly type: 'rstStream'; readonly streamId: number; readonly status: number }
  | { readonly type: 'settings'; readonly clear: boolean; readonly entries: readonly Setting[] }
  | { readonly type: 'ping'; readonly id: number }
  | { readonly type: 'goAway'; readonly lastStreamId: number; readonly status: number }
  | { readonly type: 'windowUpdate'; readonly streamId: number; readonly delta: number };

/** Data of a stream. A received frame may be only a part of the frame that the peer sent. */
interface DataFrame {
  readonly type: 'data';
  readonly streamId: number;
  readonly fin: boolean;
  readonly data: Uint8Array;
}

export type Frame = ControlFrame | DataFrame;

/** Status codes of RST_STREAM. */
export const RESET_STATUS_CODES = { protocolError: 1, refused: 3, cancel: 5 } as const;

export const GO_AWAY_STATUS_CODES = { ok: 0, protocolError: 1 } as const;

/** Size in bytes of the frame header, which contains the type, the flags and the length. */
export const FRAME_HEADER_BYTES = 8;

const SPDY_VERSION = 3;
const FRAME_TYPES = {
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
const UNIDIRECTIONAL_FLAG = 2;
const CLEAR_SETTINGS_FLAG = 1;
const STREAM_ID_MASK = 0x7fff_ffff;

function encodeControlFrame(
  type: ControlFrame['type'],
  flags: number,
  payloadWords: readonly number[],
  payload?: Uint8Array,
): Buffer {
  const bytes = Buffer.alloc(FRAME_HEADER_BYTES + payloadWords.length * 4);
  bytes.writeUInt16BE(0x8000 | SPDY_VERSION, 0);
  bytes.writeUInt16BE(FRAME_TYPES[type], 2);
  bytes.writeUInt32BE(payloadWords.length * 4 + (payload?.length ?? 0), 4);
  bytes.writeUInt8(flags, 4);
  for (const [index, word] of payloadWords.entries()) bytes.writeUInt32BE(word >>> 0, FRAME_HEADER_BYTES + index * 4);
  return payload ? Buffer.concat([bytes, payload]) : bytes;
}

/**
 * Encodes a SYN_STREAM frame. The priority is in the upper three bits of its byte, followed by an empty credential
 * slot.
 */
function encodeSynStream({ streamId, associatedId, priority, fin, unidirectional, block }: SynStream): Buffer {
  const flags = (fin ? FIN : 0) | (unidirectional ? UNIDIRECTIONAL_FLAG : 0);
  const priorityAndSlot = Buffer.from([priority << 5, 0]);
  return encodeControlFrame('synStream', flags, [streamId, associatedId], Buffer.concat([priorityAndSlot, block]));
}

export function encodeFrame(frame: Frame): Buffer {
  switch (frame.type) {
    case 'data':
      return Buffer.concat([encodeDataHeader(frame.streamId, frame.data.length, frame.fin), frame.data]);
    case 'synStream':
      return encodeSynStream(frame);
    case 'synReply':
    case 'headers':
      return encodeControlFrame(frame.type, frame.fin ? FIN : 0, [frame.streamId], frame.block);
    case 'rstStream':
      return encodeControlFrame(frame.type, 0, [frame.streamId, frame.status]);
    case 'settings': {
      const entries = frame.entries.flatMap(({ id, flags, value }) => [(flags << 24) | id, value]);
      return encodeControlFrame(frame.type, frame.clear ? CLEAR_SETTINGS_FLAG : 0, [frame.entries.length, ...entries]);
    }
    case 'ping':
      return encodeControlFrame(frame.type, 0, [frame.id]);
    case 'goAway':
      return encodeControlFrame(frame.type, 0, [frame.lastStreamId, frame.status]);
    case 'windowUpdate':
      return encodeControlFrame(frame.type, 0, [frame.streamId, frame.delta]);
  }
}

function encodeDataHeader(streamId: number, length: number, fin: boolean): Buffer {
  const frameHeader = Buffer.alloc(FRAME_HEADER_BYTES);
  frameHeader.writeUInt32BE(streamId, 0);
  frameHeader.writeUInt32BE(length, 4);
  frameHeader.writeUInt8(fin ? FIN : 0, 4);
  return frameHeader;
}

export type FrameHeader =
  | { readonly isControl: true; readonly type: number; readonly flags: number; readonly length: number }
  | { readonly isControl: false; readonly streamId: number; readonly fin: boolean; readonly length: number };

/** Parses the header of a frame. Throws if it is not SPDY/3. */
export function parseFrameHeader(bytes: Buffer): FrameHeader {
  const flags = bytes.readUInt8(4);
  const length = bytes.readUIntBE(5, 3);
  const firstWord = bytes.readUInt32BE(0);
  if (firstWord <= STREAM_ID_MASK) {
    if (firstWord === 0) throw protocolFailure('a DATA frame names no stream');
    return { isControl: false, streamId: firstWord, fin: (flags & FIN) !== 0, length };
  }
  const version = (firstWord >>> 16) & 0x7fff;
  if (version !== SPDY_VERSION)
    throw protocolFailure(`a frame has the version ${version}, expected SPDY/${SPDY_VERSION}`);
  return { isControl: true, type: firstWord & 0xffff, flags, length };
}

/** Minimum payload length in bytes of each frame type and, if the length is fixed, the maximum. */
const PAYLOAD_LENGTHS = new Map<number, readonly [name: ControlFrame['type'], least: number, most?: number]>([
  [FRAME_TYPES.synStream, ['synStream', 10]],
  [FRAME_TYPES.synReply, ['synReply', 4]],
  [FRAME_TYPES.rstStream, ['rstStream', 8, 8]],
  [FRAME_TYPES.settings, ['settings', 4]],
  [FRAME_TYPES.ping, ['ping', 4, 4]],
  [FRAME_TYPES.goAway, ['goAway', 8, 8]],
  [FRAME_TYPES.headers, ['headers', 4]],
  [FRAME_TYPES.windowUpdate, ['windowUpdate', 8, 8]],
]);

/** Parses a control frame. Returns undefined for an unknown type, which must be ignored. */
export function parseControlFrame(type: number, flags: number, payload: Buffer): ControlFrame | undefined {
  const [name, least, most = payload.length] = PAYLOAD_LENGTHS.get(type) ?? [];
  if (name === undefined || least === undefined) return undefined;
  if (payload.length < least || payload.length > most)
    throw protocolFailure(`a frame of the type ${name} has ${payload.length} bytes, expected ${least}`);
  const frame = parsePayload(name, flags, payload);
  if ('streamId' in frame && frame.streamId === 0) throw protocolFailure(`a frame of the type ${name} names no stream`);
  return frame;
}

function parsePayload(type: ControlFrame['type'], flags: number, payload: Buffer): ControlFrame {
  const firstWord = payload.readUInt32BE(0);
  const readSecondWord = () => payload.readUInt32BE(4);
  const streamId = firstWord & STREAM_ID_MASK;
  const fin = (flags & FIN) !== 0;
  switch (type) {
    case 'synStream': {
      const [associatedId, priority] = [readSecondWord() & STREAM_ID_MASK, payload.readUInt8(8) >>> 5];
      const unidirectional = (flags & UNIDIRECTIONAL_FLAG) !== 0;
      return { type, streamId, associatedId, priority, fin, unidirectional, block: payload.subarray(10) };
    }
    case 'synReply':
    case 'headers':
      return { type, streamId, fin, block: payload.subarray(4) };
    case 'rstStream':
      return { type, streamId, status: readSecondWord() };
    case 'settings':
      return { type, clear: (flags & CLEAR_SETTINGS_FLAG) !== 0, entries: parseSettings(firstWord, payload) };
    case 'ping':
      return { type, id: firstWord };
    case 'goAway':
      return { type, lastStreamId: streamId, status: readSecondWord() };
    case 'windowUpdate':
      return { type, streamId, delta: readSecondWord() & STREAM_ID_MASK };
  }
}

function parseSettings(count: number, payload: Buffer): Setting[] {
  if (payload.length !== 4 + count * 8)
    throw protocolFailure(`a SETTINGS frame of ${payload.length} bytes says that it has ${count} entries`);
  return Array.from({ length: count }, (_, index) => {
    const offset = 4 + index * 8;
    return {
      flags: payload.readUInt8(offset),
      id: payload.readUIntBE(offset + 1, 3),
      value: payload.readUInt32BE(offset + 4),
    };
  });
}
