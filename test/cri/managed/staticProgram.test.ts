import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { isStatic } from '../../../cri/managed/staticProgram.ts';

/** Returns an ELF file that consists of a header and program headers of these types. */
function elf(...types: number[]): Buffer {
  const file = Buffer.alloc(64 + 56 * types.length);
  file.write('\u007fELF\u0002\u0001', 'latin1');
  file.writeBigUInt64LE(64n, 32);
  file.writeUInt16LE(56, 54);
  file.writeUInt16LE(types.length, 56);
  for (const [index, type] of types.entries()) file.writeUInt32LE(type, 64 + 56 * index);
  return file;
}

test('a program without an interpreter is static', () => {
  expect(isStatic(elf(6, 1, 1))).toBe(true);
});

test('a program with an interpreter is not static, e.g. this Node.js', () => {
  expect(isStatic(elf(6, 3, 1))).toBe(false);
  expect(isStatic(readFileSync(process.execPath))).toBe(false);
});

test('a script is not a static program', () => {
  expect(isStatic(Buffer.from('#!/bin/sh\n'.repeat(20)))).toBe(false);
});
