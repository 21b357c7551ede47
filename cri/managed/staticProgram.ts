import { readFile } from 'node:fs/promises';
import { findProgram } from '../../host/program.ts';

/** A program of this host that runs without any library beside it; undefined when there is none of this name. */
export async function findStaticProgram(name: string): Promise<{ path: string; content: Buffer } | undefined> {
  const path = await findProgram(name);
  if (path === undefined) return undefined;
  const content = await readFile(path);
  return isStatic(content) ? { path, content } : undefined;
}

const interpreterSegment = 3;

/** Whether a 64-bit little-endian ELF file names no interpreter (the dynamic loader). */
export function isStatic(elf: Buffer): boolean {
  if (elf.length < 64 || elf.toString('latin1', 0, 6) !== '\u007fELF\u0002\u0001') return false;
  const table = Number(elf.readBigUInt64LE(32));
  const size = elf.readUInt16LE(54);
  const types = Array.from({ length: elf.readUInt16LE(56) }, (_, index) => elf.readUInt32LE(table + index * size));
  return !types.includes(interpreterSegment);
}
