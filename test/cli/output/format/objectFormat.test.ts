import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { objectPrinter, readFormat } from '../../../../cli/output/format/objectFormat.ts';

const HOSTILE = { metadata: { name: 'web', note: '\x1b[2Jgone' } };

async function printed(output: string, { headers = true, isTerminal = false } = {}): Promise<string> {
  const format = await readFormat({ output, headers, isTerminal });
  let text = '';
  const write = (more: string) => {
    text += more;
  };
  const kind = { nameOf: ({ metadata }: typeof HOSTILE) => metadata.name, printTable: () => write('the table\n') };
  await objectPrinter(format, kind, write)([HOSTILE]);
  return text;
}

test('each output format prints its form', async () => {
  expect(await printed('wide')).toBe('the table\n');
  expect(await printed('name')).toBe('web\n');
  expect(JSON.parse(await printed('json'))).toEqual(HOSTILE);
  expect(await printed('yaml')).toMatch(/^---\nmetadata:/);
  expect(await printed('custom-columns=NAME:.metadata.name')).toBe('NAME\nweb\n');
  expect(await printed('custom-columns=NAME:.metadata.name', { headers: false })).toBe('web\n');
});

test('template output is exact in a pipe and escaped on a terminal', async () => {
  expect(await printed('jsonpath={.metadata.note}')).toBe('\x1b[2Jgone');
  expect(await printed('jsonpath={.metadata.note}{"\\n"}', { isTerminal: true })).toBe('^[[2Jgone\n');
  expect(await printed('custom-columns=NOTE:.metadata.note')).toBe('NOTE\n^[[2Jgone\n');
});

test('templates can be read from files', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'statelet-format-'));
  const file = join(directory, 'template');
  await writeFile(file, '{.metadata.name}!\n');
  expect(await printed(`jsonpath-file=${file}`)).toBe('web!\n');
  await writeFile(file, 'NAME\n.metadata.name\n');
  expect(await printed(`custom-columns-file=${file}`)).toBe('NAME\nweb\n');
  await rm(directory, { recursive: true });
  await expect(printed(`jsonpath-file=${file}`)).rejects.toThrow(`--output: cannot read the template ${file}: ENOENT`);
});

test.each([
  ['xml', /^--output: expected one of wide, json, yaml, name, jsonpath=, .*custom-columns-file=, got "xml"$/],
  ['jsonpath=', '--output: jsonpath is given without a template'],
  ['jsonpath', /got "jsonpath"$/],
  ['jsonpath={.a', '--output: error parsing jsonpath {.a: unclosed action'],
  ['custom-columns=A', /^--output: error parsing custom-columns A: unexpected custom-columns spec: A/],
])('the output format %j is rejected in one sentence', async (output, message) => {
  await expect(printed(output)).rejects.toThrow(message);
});
