import { constants, createDeflate, createInflate } from 'node:zlib';
import { createConnectionClosedFailure, protocolFailure } from './failure.ts';
import { decodeHeaders, encodeHeaders, type Headers } from './headerBlock.ts';
import { headerDictionary } from './headerDictionary.ts';

/**
 * Maximum size in bytes of decompressed headers. Larger headers are an error. The limit is required because a few
 * compressed bytes can expand to many.
 */
export const MAX_HEADERS_BYTES = 64 * 1024;

/**
 * Codec for one direction of a connection. All headers form a single zlib stream, which is flushed after each block.
 */
interface HeaderCodec<From, To> {
  /** Converts header blocks sequentially, in the order of the calls. */
  convert(from: From): Promise<To>;
  /** Releases the memory of zlib. */
  close(): void;
}

/** Returns the compressor for sent headers. */
export function headerCompressor(): HeaderCodec<Headers, Buffer> {
  // This window is large enough for the dictionary and a few headers. The default would use 256 KiB for a few hundred
  // bytes.
  const options = { windowBits: 12, memLevel: 4, level: constants.Z_BEST_COMPRESSION };
  const zlib = createDeflate({ ...options, dictionary: headerDictionary(), flush: constants.Z_SYNC_FLUSH });
  const { convert, close } = sequentialCodec(zlib);
  return { convert: (headers) => convert(encodeHeaders(headers)), close };
}

/** Returns the decompressor for received headers. Rejects invalid headers and those larger than `MAX_HEADERS_BYTES`. */
export function headerDecompressor(): HeaderCodec<Uint8Array, Headers> {
  const { convert, close } = sequentialCodec(
    createInflate({ dictionary: headerDictionary(), flush: constants.Z_SYNC_FLUSH }),
  );
  return { convert: async (block) => decodeHeaders(await convert(block)), close };
}

function sequentialCodec(zlib: ZlibStream): HeaderCodec<Uint8Array, Buffer> {
  let previousConversion: Promise<unknown> = Promise.resolve();
  // Ignore the error here, because the pending conversion reports it.
  zlib.on('error', () => {});
  return {
    convert: (block) => {
      const convertedBlock = previousConversion.then(() => convertBlock(zlib, block));
      previousConversion = convertedBlock.catch(() => {});
      return convertedBlock;
    },
    close: () => void zlib.destroy(),
  };
}

type ZlibStream = ReturnType<typeof createDeflate> | ReturnType<typeof createInflate>;

/**
 * Passes a header block through zlib and collects all its output. zlib calls the write callback after the output is
 * complete.
 */
async function convertBlock(zlib: ZlibStream, block: Uint8Array): Promise<Buffer> {
  if (zlib.destroyed) throw createConnectionClosedFailure();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const chunks: Buffer[] = [];
  let collectedBytes = 0;
  const collectChunk = (chunk: Buffer) => {
    chunks.push(chunk);
    collectedBytes += chunk.length;
    if (collectedBytes > MAX_HEADERS_BYTES)
      reject(protocolFailure(`the headers of a stream are longer than ${MAX_HEADERS_BYTES} bytes`));
  };
  const onError = (error: Error) =>
    reject(protocolFailure(`the headers of a stream cannot be decompressed: ${error.message}`));
  const onEnd = () => reject(protocolFailure('the compression of headers was ended'));
  const onClose = () => reject(createConnectionClosedFailure());
  zlib.on('data', collectChunk).on('error', onError).on('end', onEnd).on('close', onClose);
  // Errors are reported by the `error` event.
  zlib.write(block, (error) => error ?? resolve());
  try {
    await promise;
    return Buffer.concat(chunks);
  } catch (error) {
    zlib.destroy();
    throw error;
  } finally {
    zlib.off('data', collectChunk).off('error', onError).off('end', onEnd).off('close', onClose);
  }
}
