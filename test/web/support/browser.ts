import { type Browser, chromium } from 'playwright-core';

/** Starts Debian's chromium. The test fails on a machine without chromium. */
export function startBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
}
