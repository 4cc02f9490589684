export { FakeClock, settled } from './fake-clock.js';
