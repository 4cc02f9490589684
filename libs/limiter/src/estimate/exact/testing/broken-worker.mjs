/** A thread that does what the text tells it, for the counter's specs. */
import { parentPort } from 'node:worker_threads';

parentPort.on('message', ({ texts: [text] }) => {
  if (text === 'throw') throw new Error(text);
  if (text === 'exit') process.exit(0);
  if (text === 'answer') parentPort.postMessage(1);
  if (text === 'environment') parentPort.postMessage(Object.keys(process.env).length);
});
