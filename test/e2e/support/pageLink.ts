/** The link to the page of its node that `up` prints, with the token of the page. */
import { eventually } from './eventually.ts';
import type { Statelet } from './statelet.ts';

/** Waits for the link in the output of an agent. */
export const printedPageLink = (agent: Statelet): Promise<string> =>
  eventually('the agent prints the link to its page', () => /look at it on (http:[^\s"]+)/.exec(agent.out())?.[1]);

/** Requests a path of the page, authenticated by the cookie that the link sets in a browser. */
export async function fetchWithLink(link: string, path: string): Promise<Response> {
  const opened = await fetch(link, { redirect: 'manual' });
  const [cookie = ''] = opened.headers.getSetCookie()[0]?.split(';') ?? [];
  return fetch(new URL(path, link), { headers: { cookie } });
}

/** Returns a link with the token to a path of the page, as a browser would first open it. */
export function linkTo(link: string, path: string): string {
  const url = new URL(path, link);
  url.searchParams.set('token', new URL(link).searchParams.get('token') ?? '');
  return url.href;
}
