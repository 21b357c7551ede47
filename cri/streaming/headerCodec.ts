import { constants, createDeflate, createInflate } from 'node:zlib';
import { connectionEnded, malformed } from './failure.ts';
import { decodeHeaders, encodeHeaders, type Headers } from './headerBlock.ts';
import { headerDictionary } from './headerDictionary.ts';

/** What headers may come to once they are decompressed: a few bytes can stand for very many. */
export const HEADERS_LIMIT = 64 * 1024;

/** One direction of a connection: all its headers are one stream of zlib, flushed behind each block. */
interface Side<From, To> {
  /** Blocks are converted one after the other, in the order in which they are given. */
  convert(from: From): Promise<To>;
  /** Gives its memory back. */
  close(): void;
}

/** Compresses headers that are sent. */
export function headerCompressor(): Side<Headers, Buffer> {
  // The window holds the dictionary and some headers; the usual one would take 256 KiB for a few hundred bytes.
  const options = { windowBits: 12, memLevel: 4, level: constants.Z_BEST_COMPRESSION };
  const zlib = createDeflate({ ...options, dictionary: headerDictionary(), flush: constants.Z_SYNC_FLUSH });
  const { convert, close } = side(zlib);
  return { convert: (headers) => convert(encodeHeaders(headers)), close };
}

/** Decompresses headers that have come; what is not their like, or more than `HEADERS_LIMIT`, is refused. */
export function headerDecompressor(): Side<Uint8Array, Headers> {
  const { convert, close } = side(createInflate({ dictionary: headerDictionary(), flush: constants.Z_SYNC_FLUSH }));
  return { convert: async (block) => decodeHeaders(await convert(block)), close };
}

function side(zlib: Zlib): Side<Uint8Array, Buffer> {
  let last: Promise<unknown> = Promise.resolve();
  // Whoever waits for a block hears of it; nobody else has to.
  zlib.on('error', () => {});
  return {
    convert: (block) => {
      const converted = last.then(() => flushed(zlib, block));
      last = converted.catch(() => {});
      return converted;
    },
    close: () => void zlib.destroy(),
  };
}

type Zlib = ReturnType<typeof createDeflate> | ReturnType<typeof createInflate>;

/** What zlib makes of a block, all of it: it calls back once it has nothing more to give. */
async function flushed(zlib: Zlib, block: Uint8Array): Promise<Buffer> {
  if (zlib.destroyed) throw connectionEnded();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const parts: Buffer[] = [];
  let length = 0;
  const take = (part: Buffer) => {
    parts.push(part);
    length += part.length;
    if (length > HEADERS_LIMIT) reject(malformed(`the headers of a stream are longer than ${HEADERS_LIMIT} bytes`));
  };
  const refuse = (error: Error) =>
    reject(malformed(`the headers of a stream cannot be decompressed: ${error.message}`));
  const end = () => reject(malformed('the compression of headers was ended'));
  const close = () => reject(connectionEnded());
  zlib.on('data', take).on('error', refuse).on('end', end).on('close', close);
  // Its error is told by the event.
  zlib.write(block, (error) => error ?? resolve());
  try {
    await promise;
    return Buffer.concat(parts);
  } catch (error) {
    zlib.destroy();
    throw error;
  } finally {
    zlib.off('data', take).off('error', refuse).off('end', end).off('close', close);
  }
}
