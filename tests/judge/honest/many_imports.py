"""Import much that it does not need, among it what cheats use: this alone is nothing bad."""

import asyncio
import concurrent.futures
import ctypes
import decimal
import email.message
import gc
import http.client
import inspect
import multiprocessing
import socket
import sqlite3
import subprocess
import threading
import time
import xml.etree.ElementTree

import numpy as np

MODULES = (asyncio, concurrent.futures, ctypes, decimal, email.message, gc, http.client, inspect, multiprocessing)
OTHERS = (socket, sqlite3, subprocess, threading, time, xml.etree.ElementTree)


def f(x):
    shifted = np.exp(x - x.max(axis=-1, keepdims=True))
    return shifted / shifted.sum(axis=-1, keepdims=True)
