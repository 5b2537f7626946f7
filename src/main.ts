#!/usr/bin/env node
import { runCommandLine } from './cli/command-line.js';

process.exitCode = await runCommandLine(process.argv);
// The work is done; a connection that somebody forgot must not keep the program.
setTimeout(() => process.exit(), 2_000).unref();
