/** How the desktop of the user, where there is one, opens a page. */
import { spawn } from 'node:child_process';
import { lookUp } from '../pod/lookUp.ts';

export interface Desktop {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Rejects where nothing on this host can open it. */
  open(url: string): Promise<void>;
}

/** Opens an address that the user has been told: where nothing can open it, whoever reads it can. */
export async function openOnDesktop(
  url: string,
  { environment = process.env, open = openByDesktop }: Partial<Desktop> = {},
): Promise<void> {
  const hasDesktop = ['DISPLAY', 'WAYLAND_DISPLAY'].some((each) => lookUp(environment, each));
  if (hasDesktop) await open(url).catch(() => {});
}

/** Once it has begun it lives on without this process, and so does the browser that it begins. */
function openByDesktop(url: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn('xdg-open', [url], { stdio: 'ignore', detached: true });
    child.unref();
    child.once('error', reject);
    child.once('spawn', resolve);
  });
}
