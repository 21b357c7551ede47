/** Requests each of the URLs in the arguments once a second with `http.get`, and discards the responses. */
import { Agent, get } from 'node:http';

const agent = new Agent({ keepAlive: false });
const urls = process.argv.slice(2);

urls.forEach((url, index) => {
  const ask = () => {
    get(url, { agent }, (response) => response.resume()).on('error', () => {});
  };
  setTimeout(() => setInterval(ask, 1_000), (index * 1_000) / urls.length);
});
process.stdout.write('ready\n');
