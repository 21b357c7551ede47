/** What `get -o` asks for, as kubectl has it. */
import { readFile } from 'node:fs/promises';
import { messageOf } from '../../../base/failure.ts';
import { printable } from '../../../base/printable.ts';
import { ConfigError } from '../../../node/config/configError.ts';
import { tablePrinter } from '../../terminal/table/printer.ts';
import { asText } from '../output.ts';
import type { CustomColumns } from './customColumns.ts';
import { FORMATS, FORMATS_WITH } from './formats.ts';
import { PathMistake } from './pathMistake.ts';

/** How objects are printed: each of them, or a list of them, is made a text, or each is a name or a row of a table. */
export type ObjectFormat =
  | {
      readonly kind: 'text';
      readonly textOf: (value: unknown) => string | Promise<string>;
      /** Stands before each of several. */
      readonly mark: string;
    }
  | { readonly kind: 'names' }
  | { readonly kind: 'table'; readonly wide: boolean; readonly headers: boolean }
  | ({ readonly kind: 'columns'; readonly headers: boolean } & CustomColumns);

interface Where {
  readonly output?: string | undefined;
  readonly headers?: boolean | undefined;
  /** A terminal gets no control characters; all else gets what a template finds as it is. */
  readonly isTerminal?: boolean | undefined;
}

/** Reads it; a mistake is one sentence, before any agent is asked. */
export async function readFormat({
  output,
  headers = true,
  isTerminal = process.stdout.isTTY,
}: Where): Promise<ObjectFormat> {
  if (output === undefined || output === 'wide') return { kind: 'table', wide: output === 'wide', headers };
  if (output === 'name') return { kind: 'names' };
  if (output === 'json' || output === 'yaml')
    return { kind: 'text', textOf: (value) => asText(value, output), mark: output === 'yaml' ? '---\n' : '' };
  const name = FORMATS_WITH.find((each) => output.startsWith(each));
  if (name === undefined)
    throw new ConfigError(`--output: expected one of ${[...FORMATS, ...FORMATS_WITH].join(', ')}, got "${output}"`);
  const argument = output.slice(name.length);
  if (argument === '') throw new ConfigError(`--output: ${name.slice(0, -1)} is given without a template`);
  return readTemplated(name, argument, { headers, isTerminal });
}

async function readTemplated(
  name: (typeof FORMATS_WITH)[number],
  argument: string,
  { headers, isTerminal }: { readonly headers: boolean; readonly isTerminal: boolean },
): Promise<ObjectFormat> {
  const text = name.endsWith('-file=') ? await fileText(argument) : argument;
  try {
    if (name === 'custom-columns=' || name === 'custom-columns-file=') {
      const { readColumns, readColumnsFile } = await import('./customColumns.ts');
      return { kind: 'columns', headers, ...(name === 'custom-columns=' ? readColumns(text) : readColumnsFile(text)) };
    }
    const { readTemplate } = await import('./jsonTemplate.ts');
    const textOf = readTemplate(text);
    return { kind: 'text', textOf: (value) => (isTerminal ? printable(textOf(value)) : textOf(value)), mark: '' };
  } catch (error) {
    if (!(error instanceof PathMistake)) throw error;
    throw new ConfigError(`--output: error parsing ${name.slice(0, -1)} ${argument}: ${error.message}`, {
      cause: error,
    });
  }
}

async function fileText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new ConfigError(`--output: cannot read the template ${path}: ${messageOf(error)}`, { cause: error });
  }
}

/** What is printed of objects of one kind. */
interface Kind<Item> {
  readonly nameOf: (item: Item) => string;
  /** What a text and columns are made of; by default the object itself. */
  readonly objectOf?: (item: Item) => unknown;
  /** Prints them as the table of their kind. */
  readonly table: (items: readonly Item[]) => unknown;
}

/** Prints objects one after the other as they come. */
export function objectPrinter<Item>(
  format: ObjectFormat,
  { nameOf, objectOf = (item) => item, table }: Kind<Item>,
  write: (text: string) => unknown,
): (items: readonly Item[]) => Promise<void> {
  if (format.kind === 'table') return async (items) => void table(items);
  if (format.kind === 'names') return async (items) => items.forEach((item) => void write(`${nameOf(item)}\n`));
  if (format.kind === 'columns') {
    const columns = tablePrinter(write, { headers: format.headers });
    const { header, cells } = format;
    return async (items) =>
      columns.print(
        header,
        items.map((item) => cells(objectOf(item))),
      );
  }
  return async (items) => {
    for (const item of items) write(`${format.mark}${await format.textOf(objectOf(item))}`);
  };
}
