/** Processors in the formats of different architectures. */
import { expect, test } from '@jest/globals';
import { parseProcessors } from '../../../host/usage/processors.ts';

const processor = (at: number, socket: number, core: number) =>
  `processor\t: ${at}\nmodel name\t: Some\nphysical id\t: ${socket}\nsiblings\t: 4\ncore id\t\t: ${core}\n\n`;

test('counts threads, and cores per socket', () => {
  const two = [0, 1].flatMap((socket) => [0, 1, 0, 1].map((core, at) => processor(socket * 4 + at, socket, core)));
  expect(parseProcessors(two.join(''))).toEqual({ cores: 8, physicalCores: 4, sockets: 2 });
});

test('without core and socket IDs, each processor is a core', () => {
  expect(parseProcessors('processor\t: 0\nBogoMIPS\t: 50\n\nprocessor\t: 1\n')).toEqual({
    cores: 2,
    physicalCores: 2,
    sockets: 1,
  });
});
