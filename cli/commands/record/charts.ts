import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../../../base/failure.ts';
import { errorCode } from '../../../host/files/fileErrors.ts';
import { createCharts as allCharts, type Chart } from '../../../machines/drawing/charts.ts';
import { definitionOf } from '../../../machines/drawing/definition.ts';
import { ConfigError } from '../../../node/config/configError.ts';

export interface ChartsOptions {
  readonly name?: string;
  /** Directory to which one page per machine is written. If undefined, the charts are printed. */
  readonly output?: string;
  /**
   * Whether to open the page of all charts in a browser instead of printing the charts. Cannot be combined with
   * `output`.
   */
  readonly open?: boolean;
  /** Output format. Defaults to `mermaid`. */
  readonly format?: 'mermaid' | 'json';
}

const jsonText = (value: object): string => `${JSON.stringify(value, null, 2)}\n`;

/** Renders a machine's page with its summary and its Mermaid chart, which GitHub renders. */
export const chartPage = ({ name, summary, mermaid }: Chart): string =>
  `# ${name}\n\n${summary}\n\n\`\`\`mermaid\n${mermaid}\`\`\`\n\nWritten by \`npm run charts\` from the machine itself.\n`;

function selectCharts(name: string | undefined): Chart[] {
  const charts = allCharts();
  const matchingCharts = charts.filter((chart) => name === undefined || chart.name === name);
  if (name === undefined || matchingCharts.length > 0) return matchingCharts;
  throw new ConfigError(`${name}: unknown machine, expected one of ${charts.map((chart) => chart.name).join(', ')}`);
}

const writePage = (file: string, page: string): Promise<void> =>
  writeFile(file, page).catch((cause: unknown) => {
    throw new ConfigError(`--output: ${file} cannot be written: ${messageOf(cause)}`, { cause });
  });

/**
 * Prints all machines as Mermaid charts or JSON definitions, or writes them to files. With a name, handles only that
 * machine. Without a name, the definitions are printed as one JSON list.
 */
export async function printCharts(
  { name, output, open, format = 'mermaid' }: ChartsOptions,
  write: (text: string) => unknown,
): Promise<void> {
  const selectedCharts = selectCharts(name);
  if (open)
    return (await import('./openCharts.ts')).openCharts(
      { ...(name === undefined ? {} : { name }), ...(output === undefined ? {} : { output }) },
      write,
    );
  if (output === undefined && format === 'json') {
    const definitions = selectedCharts.map(({ machine }) => definitionOf(machine));
    const [first = {}] = definitions;
    write(jsonText(name === undefined ? definitions : first));
    return;
  }
  if (output === undefined) {
    for (const { name, summary, mermaid } of selectedCharts) write(`%% ${name}: ${summary}\n${mermaid}\n`);
    return;
  }
  await mkdir(output, { recursive: true }).catch((cause: unknown) => {
    const why =
      errorCode(cause) === 'EEXIST' || errorCode(cause) === 'ENOTDIR' ? 'expected a directory' : messageOf(cause);
    throw new ConfigError(`--output: ${output}: ${why}`, { cause });
  });
  for (const chart of selectedCharts) {
    if (format === 'json') await writePage(join(output, `${chart.name}.json`), jsonText(definitionOf(chart.machine)));
    else await writePage(join(output, `${chart.name}.md`), chartPage(chart));
  }
}
