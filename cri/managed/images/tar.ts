/** A file, directory or symbolic link in an archive. The path has no leading slash. */
export type TarEntry = { readonly path: string } & (
  | { readonly type: 'file'; readonly content: Buffer; readonly mode: number }
  | { readonly type: 'directory'; readonly mode: number }
  | { readonly type: 'symlink'; readonly target: string }
);

const BLOCK_BYTES = 512;

/**
 * Returns a ustar archive of the entries, owned by root and with the modification time 0, so that the same entries
 * always result in the same bytes.
 */
export function tar(entries: readonly TarEntry[]): Buffer {
  const blocks = entries.flatMap((entry) => {
    if (entry.type !== 'file') return [headerBlock(entry)];
    return [headerBlock(entry), entry.content, Buffer.alloc(-entry.content.length & (BLOCK_BYTES - 1))];
  });
  return Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK_BYTES)]);
}

const TYPE_FLAGS = { file: '0', symlink: '2', directory: '5' } as const;

function headerBlock(entry: TarEntry): Buffer {
  const block = Buffer.alloc(BLOCK_BYTES);
  const path = entry.type === 'directory' ? `${entry.path}/` : entry.path;
  const linkTarget = entry.type === 'symlink' ? entry.target : '';
  if (Buffer.byteLength(path) > 100 || Buffer.byteLength(linkTarget) > 100)
    throw new RangeError(`too long for tar: ${path}`);
  block.write(path, 0);
  block.write(formatOctal(entry.type === 'symlink' ? 0o777 : entry.mode, 8), 100);
  block.write(formatOctal(0, 8), 108);
  block.write(formatOctal(0, 8), 116);
  block.write(formatOctal(entry.type === 'file' ? entry.content.length : 0, 12), 124);
  block.write(formatOctal(0, 12), 136);
  // The checksum is computed with spaces in the checksum field.
  block.write(' '.repeat(8), 148);
  block.write(TYPE_FLAGS[entry.type], 156);
  block.write(linkTarget, 157);
  block.write('ustar\u000000', 257, 'latin1');
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return block;
}

function formatOctal(value: number, width: number): string {
  return `${value.toString(8).padStart(width - 1, '0')}\0`;
}
