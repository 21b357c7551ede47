import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { FrameReader, MAX_CONTROL_FRAME_BYTES } from '../../../cri/streaming/frameReader.ts';
import { encodeFrame, type Frame } from '../../../cri/streaming/frames.ts';

const bytes = (hex: string) => Buffer.from(hex.replaceAll(/\s/g, ''), 'hex');

/** Returns the frames of bytes that arrive in these parts, with split DATA frames joined. */
function readAll(...parts: Uint8Array[]): Frame[] {
  const reader = new FrameReader();
  const frames: Frame[] = [];
  let begun: Buffer = Buffer.alloc(0);
  for (const part of parts)
    for (const frame of reader.read(part)) {
      if (frame.type !== 'data') frames.push(plain(frame));
      else begun = Buffer.concat([begun, frame.data]);
      if (frame.type === 'data' && frame.fin) {
        frames.push({ ...frame, data: begun });
        begun = Buffer.alloc(0);
      }
    }
  expect(reader.isIncomplete).toBe(false);
  return frames;
}

/** Returns the frame with a separate copy of its bytes. */
const plain = (frame: Frame): Frame => ('block' in frame ? { ...frame, block: Buffer.from(frame.block) } : frame);

const id = fc.integer({ min: 1, max: 0x7fff_ffff });
const word = fc.nat(0xffff_ffff);
const block = fc.uint8Array({ maxLength: 100 }).map((each) => Buffer.from(each));
const fin = fc.boolean();
const setting = fc.record({ id: fc.nat(0xff_ffff), flags: fc.nat(255), value: word });

const anyFrame: fc.Arbitrary<Frame> = fc.oneof(
  fc.record({
    type: fc.constant('synStream' as const),
    streamId: id,
    associatedId: fc.nat(0x7fff_ffff),
    priority: fc.nat(7),
    unidirectional: fc.boolean(),
    fin,
    block,
  }),
  fc.record({ type: fc.constantFrom('synReply' as const, 'headers' as const), streamId: id, fin, block }),
  fc.record({ type: fc.constant('rstStream' as const), streamId: id, status: word }),
  fc.record({
    type: fc.constant('settings' as const),
    clear: fc.boolean(),
    entries: fc.array(setting, { maxLength: 5 }),
  }),
  fc.record({ type: fc.constant('ping' as const), id: word }),
  fc.record({ type: fc.constant('goAway' as const), lastStreamId: fc.nat(0x7fff_ffff), status: word }),
  fc.record({ type: fc.constant('windowUpdate' as const), streamId: id, delta: fc.nat(0x7fff_ffff) }),
  fc.record({ type: fc.constant('data' as const), streamId: id, fin: fc.constant(true), data: block }),
);

/** Splits bytes into parts with these lengths, which repeat. */
function cut(whole: Buffer, lengths: readonly number[]): Buffer[] {
  const parts: Buffer[] = [];
  for (let at = 0, index = 0; at < whole.length; index++) {
    const length = lengths[index % lengths.length] ?? 1;
    parts.push(whole.subarray(at, at + length));
    at += length;
  }
  return parts;
}

test('every frame is parsed as it was encoded, regardless of the chunks', () => {
  const lengths = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(fc.array(anyFrame, { maxLength: 10 }), lengths, (frames, cuts) => {
      expect(readAll(...cut(Buffer.concat(frames.map(encodeFrame)), cuts))).toEqual(frames);
    }),
  );
});

test.each<[string, Frame, string]>([
  [
    'SYN_STREAM',
    {
      type: 'synStream',
      streamId: 3,
      associatedId: 1,
      priority: 5,
      fin: true,
      unidirectional: false,
      block: bytes('cafe'),
    },
    '8003 0001 01 00000c 00000003 00000001 a000 cafe',
  ],
  ['SYN_REPLY', { type: 'synReply', streamId: 3, fin: false, block: bytes('cafe') }, '8003000200000006 00000003 cafe'],
  ['RST_STREAM', { type: 'rstStream', streamId: 3, status: 5 }, '8003000300000008 00000003 00000005'],
  [
    'SETTINGS',
    { type: 'settings', clear: true, entries: [{ id: 7, flags: 1, value: 65536 }] },
    '8003 0004 01 00000c 00000001 01 000007 00010000',
  ],
  ['PING', { type: 'ping', id: 1 }, '8003000600000004 00000001'],
  ['GOAWAY', { type: 'goAway', lastStreamId: 9, status: 1 }, '8003000700000008 00000009 00000001'],
  ['HEADERS', { type: 'headers', streamId: 3, fin: true, block: bytes('') }, '8003000801000004 00000003'],
  ['WINDOW_UPDATE', { type: 'windowUpdate', streamId: 3, delta: 1 }, '8003000900000008 00000003 00000001'],
  ['DATA', { type: 'data', streamId: 3, fin: true, data: bytes('6869') }, '00000003 01 000002 6869'],
])('%s is encoded as the SPDY draft specifies', (_, frame, hex) => {
  expect(encodeFrame(frame)).toEqual(bytes(hex));
  expect(readAll(bytes(hex))).toEqual([frame]);
});

test('the bytes of a DATA frame of any length are forwarded as they arrive', () => {
  const reader = new FrameReader();
  expect([...reader.read(bytes('00000003 01 ffffff 6869'))]).toEqual([
    { type: 'data', streamId: 3, fin: false, data: bytes('6869') },
  ]);
  expect([...reader.read(bytes('21'))]).toEqual([{ type: 'data', streamId: 3, fin: false, data: bytes('21') }]);
  expect(reader.isIncomplete).toBe(true);
});

test('a frame of unknown type is ignored', () => {
  expect(readAll(bytes('8003 00ff 00 000003 010203 8003000600000004 00000001'))).toEqual([{ type: 'ping', id: 1 }]);
});

test.each([
  ['another version', '8002000600000004', 'a frame has the version 2, expected SPDY/3'],
  ['data of no stream', '0000000000000001', 'a DATA frame names no stream'],
  [
    'a control frame of a huge length',
    '80030001 00ffffff',
    `a frame says that it has 16777215 bytes, more than ${MAX_CONTROL_FRAME_BYTES}`,
  ],
  [
    'a stream without its fields',
    '8003000100000004 00000001',
    'a frame of the type synStream has 4 bytes, expected 10',
  ],
  ['a ping that is too long', '8003000600000005 0000000100', 'a frame of the type ping has 5 bytes, expected 4'],
  ['a reset of no stream', '8003000300000008 00000000 00000005', 'a frame of the type rstStream names no stream'],
  [
    'settings of another number',
    '800300040000000c 00000002 00000007 00010000',
    'a SETTINGS frame of 12 bytes says that it has 2 entries',
  ],
])('an invalid frame is rejected: %s', (_, hex, message) => {
  expect(() => [...new FrameReader().read(bytes(hex))]).toThrow(`the streaming connection was ended: ${message}`);
});
