/**
 * A service process whose clock runs faster: minutes of rules pass in seconds. Started by the chaos test with its settings as JSON;
 * says READY when it answers.
 */
import { createApp, settingsSchema } from '@obsiac/service';

interface Instructions {
  readonly settings: Record<string, unknown>;
  /** Real milliseconds at which the fast clock shows `virtual`; null: it stands until a line on standard input says when it began. */
  readonly real: number | null;
  readonly virtual: number;
  readonly speed: number;
}

const { settings, real, virtual, speed } = JSON.parse(process.argv[2] ?? '{}') as Instructions;
let began = real;
const now = () => Math.floor(virtual + (began === null ? 0 : Date.now() - began) * speed);
process.stdin.on('data', (line: Buffer) => {
  began = Number(line.toString());
});
const app = createApp(settingsSchema.parse(settings), { now, retryDelay: () => 50 });
await app.start();
process.stdout.write('READY\n');
process.on('SIGTERM', () => {
  void app.stop().then(() => process.exit(0));
});
