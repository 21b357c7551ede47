/** Prints objects in kubectl's output formats, for `get -o`. */
import { readFile } from 'node:fs/promises';
import { messageOf } from '../../../base/failure.ts';
import { printableText } from '../../../base/text/printable.ts';
import { ConfigError } from '../../../node/config/configError.ts';
import { tablePrinter } from '../../terminal/table/tablePrinter.ts';
import { formatObject } from '../formatObject.ts';
import type { CustomColumns } from './customColumns.ts';
import { FORMATS, FORMATS_WITH_ARGUMENT } from './formats.ts';
import { PathSyntaxError } from './pathSyntaxError.ts';

/** An output format that prints objects as text, names, table rows or custom columns. */
export type ObjectFormat =
  | {
      readonly kind: 'text';
      readonly formatValue: (value: unknown) => string | Promise<string>;
      /** Text to print before each object if there are several. */
      readonly separator: string;
    }
  | { readonly kind: 'names' }
  | { readonly kind: 'table'; readonly wide: boolean; readonly headers: boolean }
  | ({ readonly kind: 'columns'; readonly headers: boolean } & CustomColumns);

interface FormatOptions {
  readonly output?: string | undefined;
  readonly headers?: boolean | undefined;
  /** Whether to escape control characters in the output of a template. */
  readonly isTerminal?: boolean | undefined;
}

/**
 * Parses the value of `--output`. Throws a `ConfigError` for an invalid format, so that the error is reported before
 * any request to the agent.
 */
export async function readFormat({
  output,
  headers = true,
  isTerminal = process.stdout.isTTY,
}: FormatOptions): Promise<ObjectFormat> {
  if (output === undefined || output === 'wide') return { kind: 'table', wide: output === 'wide', headers };
  if (output === 'name') return { kind: 'names' };
  if (output === 'json' || output === 'yaml')
    return {
      kind: 'text',
      formatValue: (value) => formatObject(value, output),
      separator: output === 'yaml' ? '---\n' : '',
    };
  const name = FORMATS_WITH_ARGUMENT.find((each) => output.startsWith(each));
  if (name === undefined)
    throw new ConfigError(
      `--output: expected one of ${[...FORMATS, ...FORMATS_WITH_ARGUMENT].join(', ')}, got "${output}"`,
    );
  const argument = output.slice(name.length);
  if (argument === '') throw new ConfigError(`--output: ${name.slice(0, -1)} is given without a template`);
  return readArgumentFormat(name, argument, { headers, isTerminal });
}

async function readArgumentFormat(
  name: (typeof FORMATS_WITH_ARGUMENT)[number],
  argument: string,
  { headers, isTerminal }: { readonly headers: boolean; readonly isTerminal: boolean },
): Promise<ObjectFormat> {
  const template = name.endsWith('-file=') ? await readTemplateFile(argument) : argument;
  try {
    if (name === 'custom-columns=' || name === 'custom-columns-file=') {
      const { readColumns, readColumnsFile } = await import('./customColumns.ts');
      return {
        kind: 'columns',
        headers,
        ...(name === 'custom-columns=' ? readColumns(template) : readColumnsFile(template)),
      };
    }
    const { compileTemplate } = await import('./compileTemplate.ts');
    const formatValue = compileTemplate(template);
    return {
      kind: 'text',
      formatValue: (value) => (isTerminal ? printableText(formatValue(value)) : formatValue(value)),
      separator: '',
    };
  } catch (error) {
    if (!(error instanceof PathSyntaxError)) throw error;
    throw new ConfigError(`--output: error parsing ${name.slice(0, -1)} ${argument}: ${error.message}`, {
      cause: error,
    });
  }
}

async function readTemplateFile(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new ConfigError(`--output: cannot read the template ${path}: ${messageOf(error)}`, { cause: error });
  }
}

/** Describes how to print objects of one kind. */
interface ObjectPrinterOptions<Item> {
  readonly nameOf: (item: Item) => string;
  /** Converts an item to the object that is printed. Defaults to the item itself. */
  readonly objectOf?: (item: Item) => unknown;
  readonly printTable: (items: readonly Item[]) => unknown;
}

/** Returns a function that prints objects. The function can be called repeatedly, e.g. for a watch. */
export function objectPrinter<Item>(
  format: ObjectFormat,
  { nameOf, objectOf = (item) => item, printTable }: ObjectPrinterOptions<Item>,
  write: (text: string) => unknown,
): (items: readonly Item[]) => Promise<void> {
  if (format.kind === 'table') return async (items) => void printTable(items);
  if (format.kind === 'names') return async (items) => items.forEach((item) => void write(`${nameOf(item)}\n`));
  if (format.kind === 'columns') {
    const columnPrinter = tablePrinter(write, { headers: format.headers });
    const { header, cells } = format;
    return async (items) =>
      columnPrinter.print(
        header,
        items.map((item) => cells(objectOf(item))),
      );
  }
  return async (items) => {
    for (const item of items) write(`${format.separator}${await format.formatValue(objectOf(item))}`);
  };
}
