/** The import rules of the page, because the parser of the other import rules does not support JSX. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, test } from '@jest/globals';
import { root } from '../support/root.ts';
import { productFolders } from '../support/tree.ts';

const files = readdirSync(join(root, 'web'), { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.tsx?$/.test(name) && !name.endsWith('.d.ts'))
  .map((name) => join('web', name));

/** Shared files that the page may import. None of them may need Node.js. */
const SHARED = /^(?:base\/|kubernetes\/|show\/|inspect\/protocol\.ts$|machines\/shared\/stateMeta\.ts$)/;
const PACKAGES = ['preact', 'preact/hooks', 'preact/jsx-runtime', '@preact/signals'];

const IMPORT = /(?:^|\n)\s*(?:import|export)\s(?:[^'";]*?\sfrom\s)?'([^']+)'|import\('([^']+)'\)/g;

/** Returns the files of this repository and the packages that a file imports, including type imports. */
function importsOf(file: string): string[] {
  const text = readFileSync(join(root, file), 'utf8');
  return [...text.matchAll(IMPORT)].map(([, static_, dynamic]) => {
    const name = static_ ?? dynamic ?? '';
    return name.startsWith('.') ? normalize(join(dirname(file), name)) : name;
  });
}

const isOfPage = (name: string): boolean => name.startsWith('web/');

test('the page imports its own files, files shared with the server, and two packages', () => {
  const others = files.flatMap((file) =>
    importsOf(file)
      .filter((name) => !isOfPage(name) && !SHARED.test(name) && !PACKAGES.includes(name))
      .map((name) => `${file}: ${name}`),
  );
  expect(files.length).toBeGreaterThan(10);
  expect(others).toEqual([]);
});

test('the model imports no component', () => {
  const drawn = files
    .filter((file) => file.startsWith('web/model/'))
    .flatMap((file) => importsOf(file).map((name) => `${file}: ${name}`))
    .filter((each) => /\.(tsx|css)$|: preact$/.test(each));
  expect(drawn).toEqual([]);
});

test('the page has no import cycles', () => {
  const circles: string[] = [];
  const done = new Set<string>();
  const walk = (file: string, way: readonly string[]) => {
    if (way.includes(file)) circles.push([...way.slice(way.indexOf(file)), file].join(' -> '));
    if (way.includes(file) || done.has(file)) return;
    for (const name of importsOf(file)) if (/^web\/.*\.tsx?$/.test(name)) walk(name, [...way, file]);
    done.add(file);
  };
  for (const file of files) walk(file, []);
  expect(circles).toEqual([]);
});

test('nothing but tests imports the page', () => {
  const importers = productFolders
    .filter((folder) => folder !== 'web')
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
    )
    .filter((name) => name.endsWith('.ts') && !name.includes('generated'))
    .filter((file) => importsOf(file).some(isOfPage));
  expect(importers).toEqual([]);
});
