import { writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { isMainThread } from 'node:worker_threads';
import { StallLog } from '../src/live/stalls.js';

/** Before whatever else the machine does: a provider has a machine of its own, and a gateway should. */
const FAVOURED = -10;

// Loaded into a service before it starts: notes when that process stands still, and tells it when asked by its parent.
if (isMainThread) {
  takePrecedence();
  const log = new StallLog();
  log.start();
  process.on('message', () => process.send?.(log.stalls));
  // A session of its own is not told when that of its parent ends.
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));
  process.channel?.unref();
}

/** Among the threads of its session, and of its session among the others. Only root may; others stand still more often, and say so. */
function takePrecedence(): void {
  try {
    setPriority(FAVOURED);
    writeFileSync('/proc/self/autogroup', String(FAVOURED));
  } catch {
    // As above.
  }
}
