/** Loaded into a measured process: writes what it used when it ends. */
import { writeFileSync } from 'node:fs';

process.on('exit', () => {
  const usage = process.resourceUsage();
  const cpuSeconds = (usage.userCPUTime + usage.systemCPUTime) / 1e6;
  writeFileSync(process.env.OBSIAC_BENCH_USAGE, JSON.stringify({ cpuSeconds, peakMiB: usage.maxRSS / 1024 }));
});
