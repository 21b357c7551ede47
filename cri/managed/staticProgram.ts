import { readFile } from 'node:fs/promises';
import { findProgram } from '../../host/program.ts';

/** Finds a statically linked program on this host. Returns undefined if there is none with this name. */
export async function findStaticProgram(name: string): Promise<{ path: string; content: Buffer } | undefined> {
  const path = await findProgram(name);
  if (path === undefined) return undefined;
  const content = await readFile(path);
  return isStatic(content) ? { path, content } : undefined;
}

const INTERPRETER_SEGMENT = 3;

/** Whether a 64-bit little-endian ELF file has no interpreter, i.e. no dynamic loader. */
export function isStatic(elf: Buffer): boolean {
  if (elf.length < 64 || elf.toString('latin1', 0, 6) !== '\u007fELF\u0002\u0001') return false;
  const segmentTableOffset = Number(elf.readBigUInt64LE(32));
  const segmentEntrySize = elf.readUInt16LE(54);
  const segmentTypes = Array.from({ length: elf.readUInt16LE(56) }, (_, index) =>
    elf.readUInt32LE(segmentTableOffset + index * segmentEntrySize),
  );
  return !segmentTypes.includes(INTERPRETER_SEGMENT);
}
