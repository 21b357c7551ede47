import { type Browser, chromium } from 'playwright-core';

/** Starts Debian's chromium. A machine without one cannot run the test, which then fails. */
export function startBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
}
