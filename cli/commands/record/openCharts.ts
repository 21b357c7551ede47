/** `statelet charts --open`: opens the static page of all charts in the user's browser. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ConfigError } from '../../../node/config/configError.ts';
import { packageDirectory } from '../../../node/host/paths.ts';
import { type Desktop, openOnDesktop } from './desktop.ts';

/** Prints the URL of the page, and opens it if there is a desktop. */
export async function openCharts(
  { name, output }: { readonly name?: string; readonly output?: string },
  write: (text: string) => unknown,
  { directory = join(packageDirectory(), 'dist', 'web'), ...desktop }: Partial<Desktop> & { directory?: string } = {},
): Promise<void> {
  if (output !== undefined) throw new ConfigError('--open and --output do not go together');
  const file = join(directory, 'charts.html');
  if (!existsSync(file))
    throw new ConfigError(`--open: ${file} does not exist, expected the built page: npm run build`);
  const url = `${pathToFileURL(file).href}${name === undefined ? '' : `#${encodeURIComponent(name)}`}`;
  write(`${url}\n`);
  await openOnDesktop(url, desktop);
}
